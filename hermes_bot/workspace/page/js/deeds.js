// What a person does on the page. Each returns what the server answered: {ok, error?}.
import { api } from "./api.js";
import { linkTo } from "./route.js";
import { State } from "./state.js";
import { strings } from "./strings.js";

export class Deeds extends State {
  async post({ text, thread, broadcast, files = [] }) {
    const { me, channel } = this.state;
    const place = { user: me, channel, ...(thread ? { thread_ts: thread } : {}) };
    for (const [index, file] of files.entries()) {
      const answer = await api.upload({ ...place, name: file.name, ...(index ? {} : { text }) }, file);
      if (!answer.ok) return answer;
    }
    return files.length ? { ok: true } : api.post({ ...place, text, ...(broadcast ? { broadcast } : {}) });
  }

  // Sends a file for a view: {ok, file}.
  keepFile = (file) => api.upload({ user: this.state.me, name: file.name }, file);

  command(command, text) {
    return api.command({ user: this.state.me, channel: this.state.channel, command, text });
  }

  // A shortcut of a message, or of the whole workspace where no message is given.
  shortcut(callbackId, ts) {
    const place = ts ? { channel: this.state.channel, ts } : {};
    return this.told(api.shortcut({ user: this.state.me, callback_id: callbackId, ...place }));
  }

  stop = (thread) => this.told(api.stop({ user: this.state.me, channel: this.state.channel, thread_ts: thread }));

  // The app is told; whether it heard is not the person's concern.
  openedTab = (app, tab) => api.home({ user: this.state.me, app, tab });

  // deed: {action_id, block_id, value?, state}
  click = (place, deed) => api.action({ user: this.state.me, ...place, ...deed });

  // The options that the app offers for what was typed: {ok, options}.
  suggest = (place, actionId, typed) => api.options({ user: this.state.me, ...place, action_id: actionId, value: typed });

  edit = (ts, text) => api.edit({ user: this.state.me, channel: this.state.channel, ts, text });
  erase = (ts) => this.told(api.delete({ user: this.state.me, channel: this.state.channel, ts }));
  startEdit = (ts) => this.set({ editing: ts });
  stopEdit = () => this.set({ editing: "" });
  openPanel = (panel) => this.set({ panel });

  copyLink({ ts }) {
    const t = strings(this.state.language);
    const copied = navigator.clipboard.writeText(linkTo(this.state.channel, ts));
    copied.then(() => this.notify(t.linkCopied), () => this.notify(t.notCopied));
  }

  react = (ts, name, on) => this.told(api.react({ user: this.state.me, channel: this.state.channel, ts, name, on }));

  async settleView(view, action, values) {
    const user = this.state.me;
    const answer = await api.view({ user, view_id: view.id, action, ...(values ? { values } : {}) });
    if (action === "close" || answer.error === "view_not_found") this.receiveView(user, { type: "view_closed", view });
    return answer;
  }
}
