// What the page shows, as one value that is replaced at each change, and who is told of it.
import { preferredLanguage, reason, strings } from "./strings.js";

export class State {
  state = {
    phase: "loading", // "loading" | "ready" | "failed"
    language: preferredLanguage(),
    team: null, bot: null, bots: [], people: [], groups: [],
    me: "", channels: [], channel: "", thread: "",
    room: null, replies: null, // lists of messages; null while they are being read
    newFrom: "", // the first message that was unread when the conversation was opened
    unread: {}, // what nobody has looked at yet, see unread.js
    views: {}, // {user: [view]}, the topmost last
    homes: {}, // {user: view or null}: what the bot's home shows them
    tab: "messages", // "messages" | "home", in a conversation with the bot
    sessions: {}, // {"channel/thread": session}: what agents say of their work
    online: true,
    announcement: "",
    sidebarOpen: false,
    editing: "", // the message that its author is changing
    target: "", // the message that a link led to
    notice: "", // a sentence that goes by itself
    panel: "", // "" | "switcher" | "keys"
  };
  #listeners = new Set();

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(patch) {
    this.state = { ...this.state, ...patch };
    for (const listener of this.#listeners) listener();
  }

  #noticeEnds = 0;

  // Shows a sentence for a few seconds; screen readers are told as well.
  notify(notice) {
    clearTimeout(this.#noticeEnds);
    this.set({ notice });
    this.#noticeEnds = setTimeout(() => this.set({ notice: "" }), 5000);
  }

  async told(answering) {
    const answer = await answering;
    const t = strings(this.state.language);
    if (!answer.ok) this.notify(t.actionFailed(reason(t, answer.error)));
    return answer;
  }
}
