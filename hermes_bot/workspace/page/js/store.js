// Where the person is, what is read for that place, and what is pushed meanwhile. Components read `state` and call `act`.
import { api, live } from "./api.js";
import { Deeds } from "./deeds.js";
import { countReply, isReply, put, remove, replace } from "./messages.js";
import { readRoute, replaceRoute, writeRoute } from "./route.js";
import { keepLanguage } from "./strings.js";
import { addUnread, clearUnread, dropUnread, unreadIn } from "./unread.js";

// Every seat is listened to, so that all show what waits for them; in a large workspace only the seats that were taken.
const MOST_SOCKETS = 12;

// In the address, in the place of a thread: the bot's own tab.
const HOME = "home";

export class Store extends Deeds {
  #visit = 0;

  async start() {
    this.set({ phase: "loading" });
    try {
      const { team, bot, bots, people, groups } = await api.people();
      this.set({ team, bot, bots, people, groups });
      for (const { id } of people.slice(0, MOST_SOCKETS)) this.#connect(id);
      window.onhashchange = () => this.#follow().catch((error) => this.#fail(error));
      await Promise.all(people.slice(0, MOST_SOCKETS).map(({ id }) => this.#readMissed(id)));
      await this.#follow();
    } catch (error) {
      this.#fail(error);
    }
  }

  // What the person has not read, as the workspace knows it.
  async #readMissed(user) {
    const { missed } = await api.missed(user).catch(() => ({ missed: [] }));
    const entries = missed.map(({ channel, message }) => [channel, this.#entry(user, channel, message)]);
    const none = { ...this.state.unread, [user]: {} };
    this.set({ unread: entries.reduce((unread, [channel, entry]) => addUnread(unread, user, channel, entry), none) });
  }

  #fail(error) {
    console.error(error);
    this.set({ phase: "failed" });
  }

  // Where to

  go({ user = this.state.me, channel = "", thread = "" }) {
    this.set({ sidebarOpen: false });
    writeRoute({ user, channel, thread });
  }

  openThread = (ts) => this.go({ channel: this.state.channel, thread: ts });
  closeThread = () => this.go({ channel: this.state.channel });
  openTab = (tab) => this.go({ channel: this.state.channel, thread: tab === "home" ? HOME : "" });
  toggleSidebar = (open) => this.set({ sidebarOpen: open });

  setLanguage(language) {
    keepLanguage(language);
    this.set({ language });
  }

  #lastChannel = new Map();
  #tabOpened = "";

  async #follow() {
    const wanted = readRoute();
    const visit = (this.#visit += 1);
    const known = this.state.people.some(({ id }) => id === wanted.user);
    const user = known ? wanted.user : this.state.people[0]?.id;
    const changed = user !== this.state.me;
    const channels = changed ? (await api.state(user)).channels : this.state.channels;
    if (visit !== this.#visit) return;
    const channel = [wanted.channel, this.#lastChannel.get(user)].find((id) => channels.some((one) => one.id === id))
      ?? firstChannel(channels, this.state.bot);
    this.#lastChannel.set(user, channel);
    if (!this.#online.has(user)) {
      this.#connect(user);
      await this.#readMissed(user);
      if (visit !== this.#visit) return;
    }
    const moved = changed || channel !== this.state.channel;
    const place = channel === wanted.channel ? wanted.thread : "";
    const app = appIn(channels.find(({ id }) => id === channel), this.state.bots);
    const tab = app?.home && place === HOME ? HOME : "messages";
    const thread = place === HOME ? "" : place;
    const firstUnread = unreadIn(this.state.unread, user, channel).find((entry) => !entry.thread);
    this.set({
      phase: "ready", me: user, channels, channel, thread, tab, editing: "",
      target: wanted.target || (moved ? "" : this.state.target),
      room: moved ? null : this.state.room,
      replies: moved || thread !== this.state.thread ? null : this.state.replies,
      newFrom: moved ? firstUnread?.ts ?? "" : this.state.newFrom,
      online: this.#online.get(user) !== false,
    });
    const entered = app && (moved || tab !== this.#tabOpened);
    this.#tabOpened = tab;
    replaceRoute({ user, channel, thread: tab === HOME ? HOME : thread });
    this.#see();
    if (entered) this.openedTab(app.app, tab);
    await Promise.all([this.#readRoom(visit), this.#readThread(visit), changed && this.#readViews(user)]);
  }

  // What is pushed while a list is being read may be missing from it: it is applied once more, which changes nothing twice.
  async #readRoom(visit) {
    const { me, channel } = this.state;
    await this.#reading(async () => {
      const { messages, sessions } = await api.messages(me, channel, "");
      if (visit !== this.#visit) return;
      this.#look(me, channel, "", messages.at(-1)?.ts);
      this.set({ room: messages, sessions: Object.fromEntries(sessions.map((one) => [sessionKey(one), one])) });
    });
  }

  async #readThread(visit) {
    const { me, channel, thread } = this.state;
    if (!thread) return;
    await this.#reading(async () => {
      const messages = await api.messages(me, channel, thread).then((answer) => answer.messages, () => []);
      if (visit !== this.#visit) return;
      if (messages[0] && isReply(messages[0])) this.go({ channel, thread: messages[0].thread_ts }); // a link to a reply
      else {
        this.#look(me, channel, thread, messages.at(-1)?.ts);
        this.set({ replies: messages });
      }
    });
  }

  #late = new Set();

  async #reading(work) {
    const pushed = [];
    const visit = this.#visit;
    this.#late.add(pushed);
    try {
      await work();
    } finally {
      this.#late.delete(pushed);
    }
    if (visit === this.#visit) for (const [type, message, arrived] of pushed) this.#apply(type, message, arrived);
  }

  async #readViews(user) {
    const { views, home } = await api.views(user);
    this.set({ views: { ...this.state.views, [user]: views }, homes: { ...this.state.homes, [user]: home } });
  }

  // What is pushed

  #online = new Map();

  #connect(user) {
    if (this.#online.has(user)) return;
    this.#online.set(user, true);
    live(user, {
      onEvent: (event) => this.#receive(user, event),
      onOnline: (online) => {
        const back = online && this.#online.get(user) === false;
        this.#online.set(user, online);
        if (back) this.#readMissed(user).then(() => this.#see());
        if (user !== this.state.me) return;
        this.set({ online });
        if (online && this.state.channel) this.#refresh(); // what was said before the socket opened was not pushed
      },
    });
  }

  #refresh() {
    const visit = this.#visit;
    const lost = () => this.set({ online: false });
    const reads = [this.#readChannels(), this.#readRoom(visit), this.#readThread(visit), this.#readViews(this.state.me)];
    Promise.all(reads).catch(lost);
  }

  #receive(user, event) {
    if (event.type === "view_opened" || event.type === "view_closed") return this.receiveView(user, event);
    if (event.type === "home") return this.set({ homes: { ...this.state.homes, [user]: event.view } });
    if (event.type === "session") return event.channel === this.state.channel && this.#receiveSession(event.session);
    if (event.type === "looked") return this.set({ unread: clearUnread(this.state.unread, user, event.channel, event.thread_ts, event.ts) });
    if (event.type === "state") return user === this.state.me && this.#readChannels();
    const { channel, message } = event;
    const arrived = event.type === "message" || event.type === "ephemeral";
    const here = user === this.state.me && channel === this.state.channel;
    if (here) this.#apply(event.type, message, arrived);
    if (event.type === "deleted") this.set({ unread: dropUnread(this.state.unread, user, channel, message.ts) });
    else if (arrived && message.user !== user) this.#mark(user, channel, message, here);
  }

  #apply(type, message, arrived) {
    for (const pushed of this.#late) pushed.push([type, message, arrived]);
    const { room, replies, thread } = this.state;
    const reply = isReply(message);
    const root = reply ? message.thread_ts : message.ts;
    const change = (list, belongs) => {
      if (!list) return list;
      if (type === "deleted") return message.deleted && message.reply_count ? replace(list, message) : remove(list, message.ts);
      return arrived && belongs ? put(list, message) : replace(list, message);
    };
    let nextRoom = change(room, !reply || message.broadcast);
    if (arrived && reply && nextRoom) nextRoom = countReply(nextRoom, message);
    this.set({ room: nextRoom, replies: change(replies, reply && root === thread) });
  }

  #mark(user, channel, message, here) {
    const entry = this.#entry(user, channel, message);
    const seen = here && (entry.thread === "" || entry.thread === this.state.thread);
    if (here) this.set({ announcement: message });
    if (seen) this.#look(user, channel, entry.thread, message.ts);
    else this.set({ unread: addUnread(this.state.unread, user, channel, entry) });
  }

  #entry(user, channel, message) {
    return { ts: message.ts, thread: isReply(message) ? message.thread_ts : "", loud: this.#isFor(user, channel, message) };
  }

  #looked = new Map();

  // The workspace remembers how far a place was read; it is told of each step once.
  #look(user, channel, thread, ts) {
    const place = `${user}/${channel}/${thread}`;
    if (!ts || ts <= (this.#looked.get(place) ?? "")) return;
    this.#looked.set(place, ts);
    api.look({ user, channel, ts, ...(thread ? { thread_ts: thread } : {}) });
  }

  // True when a message is meant for this person: told to them alone, or naming them, their group, or everybody.
  #isFor(user, channel, message) {
    const dm = this.state.people.find(({ id }) => id === user)?.dm;
    if (message.ephemeral || channel === dm) return true;
    const groups = this.state.groups.filter(({ members }) => members.includes(user)).map(({ id }) => `!subteam^${id}`);
    const said = `${message.text} ${JSON.stringify(message.blocks ?? [])}`;
    return [`@${user}`, "!here", "!channel", "!everyone", ...groups].some((name) => said.includes(`<${name}>`) || said.includes(`<${name}|`));
  }

  #receiveSession(session) {
    this.set({ sessions: { ...this.state.sessions, [sessionKey(session)]: session } });
  }

  receiveView(user, { type, view }) {
    const open = this.state.views[user] ?? [];
    const known = open.some(({ id }) => id === view.id);
    const opened = known ? open.map((old) => (old.id === view.id ? view : old)) : [...open, view];
    const next = type === "view_opened" ? opened : open.filter(({ id }) => id !== view.id);
    this.set({ views: { ...this.state.views, [user]: next } });
  }

  async #readChannels() {
    const user = this.state.me;
    const { channels } = await api.state(user);
    if (user === this.state.me) this.set({ channels });
  }

  // Takes the marks off what now stands before the person's eyes.
  #see() {
    const { me, channel, thread } = this.state;
    let unread = clearUnread(this.state.unread, me, channel, "");
    if (thread) unread = clearUnread(unread, me, channel, thread);
    if (unread !== this.state.unread) this.set({ unread });
  }
}

const sessionKey = ({ channel, thread_ts: thread }) => `${channel}/${thread}`;

// The app whose conversation with the person this is, if it is one.
export const appIn = (channel, bots) => (channel?.kind === "dm" ? bots.find(({ id }) => channel.members.includes(id)) : undefined);

// The place a person lands in: the first channel where the bot listens.
function firstChannel(channels, bot) {
  const heard = channels.find(({ kind, members }) => kind === "channel" && members.includes(bot.id));
  return (heard ?? channels[0])?.id ?? "";
}
