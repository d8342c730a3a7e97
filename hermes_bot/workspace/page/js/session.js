// What an agent says of its work: that it is at it (with Stop), that it waits for a person, and what one may ask it.
import { html, useDesk, useEffect, useState } from "./ui.js";
import { Icon } from "./icons.js";
import { isReply } from "./messages.js";
import { plain } from "./richtext.js";

const nameOfApp = (state, session) => state.bots.find(({ app }) => app === session?.app)?.name ?? state.bot.name;

const isBusy = (session) => session?.status === "processing" || Boolean(session?.text);

// One short line for a thread's entry, "" when nothing is going on in it.
export function workIn(state, thread, t) {
  const session = state.sessions[`${state.channel}/${thread}`];
  if (isBusy(session)) return t.working(nameOfApp(state, session));
  return session?.status === "suspended" ? t.waiting(nameOfApp(state, session)) : "";
}

// Above a composer. In a conversation of its own the bot's work in every thread is told.
export function Work({ thread = "" }) {
  const { state, t } = useDesk();
  const here = state.channels.find(({ id }) => id === state.channel);
  const all = Object.values(state.sessions).filter((one) => one.channel === state.channel);
  const shown = thread || here?.kind !== "dm" ? all.filter((one) => one.thread_ts === thread) : all;
  const writing = (thread ? state.replies : state.room)?.filter((one) => one.streaming === "in_progress") ?? [];
  const unnamed = writing.filter((one) => !shown.some((session) => session.thread_ts === threadOf(one) && isBusy(session)));
  return html`<div class="works" role="status">
    ${shown.filter((one) => isBusy(one) || one.status === "suspended").map((one) => html`<${Line} key=${one.thread_ts} session=${one}
      name=${nameOfApp(state, one)} canStop=${one.status === "processing" || writing.some((post) => threadOf(post) === one.thread_ts)} />`)}
    ${unnamed.map((one) => html`<${Line} key=${one.ts} session=${{ thread_ts: threadOf(one), text: "", loading_messages: [] }} name=${state.bot.name} canStop />`)}
  </div>`;
}

const threadOf = (message) => (isReply(message) ? message.thread_ts : message.ts);

function Line({ session, name, canStop }) {
  const { act, t } = useDesk();
  const words = useTurning(session.loading_messages);
  const waits = session.status === "suspended" && !session.text;
  return html`<p class=${waits ? "work waits" : "work"}>
    <span class="pulse" aria-hidden="true"></span>
    <span class="work-words">${waits ? t.waiting(name) : session.text ? `${name} ${plain(session.text)}` : t.working(name)}${words && html`<small>${words}</small>`}</span>
    ${canStop && html`<button type="button" class="button plain small" onClick=${() => act.stop(session.thread_ts)}><${Icon} name="stop" />${t.stop}</button>`}
  </p>`;
}

const TURN_MS = 4000;

// The loading messages one after the other.
function useTurning(messages) {
  const [at, setAt] = useState(0);
  const count = messages?.length ?? 0;
  useEffect(() => {
    if (count < 2) return undefined;
    const turning = setInterval(() => setAt((old) => old + 1), TURN_MS);
    return () => clearInterval(turning);
  }, [count]);
  return count ? plain(messages[at % count]) : "";
}

// What the app offers to be asked, until the person has said something.
export function Prompts({ thread = "", messages }) {
  const { state, act } = useDesk();
  const session = state.sessions[`${state.channel}/${thread}`];
  if (!session?.prompts?.length || messages?.at(-1)?.user === state.me) return null;
  return html`<div class="prompts">
    ${session.prompts_title && html`<p class="soft">${plain(session.prompts_title)}</p>`}
    <p class="offers">${session.prompts.map(({ title, message }) => html`<button type="button" class="offer" key=${title} title=${message}
      onClick=${() => act.post({ text: message, thread })}><${Icon} name="spark" />${plain(title)}</button>`)}</p>
  </div>`;
}
