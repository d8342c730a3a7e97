// The whole page: the bar, the sidebar, the conversation, the thread, and whatever dialog stands open.
import { Desk, classes, html, useDesk, useEffect, useState } from "./ui.js";
import { Conversation } from "./conversation.js";
import { Icon } from "./icons.js";
import { Modal } from "./modal.js";
import { Keys, Switcher, pageKeys } from "./panels.js";
import { nameOf, placeName } from "./people.js";
import { plainWords } from "./richtext.js";
import { Sidebar } from "./sidebar.js";
import { localeOf, strings } from "./strings.js";
import { Thread } from "./thread.js";
import { Topbar } from "./topbar.js";
import { unreadOf } from "./unread.js";

export function App({ store }) {
  const [, redraw] = useState(0);
  useEffect(() => store.subscribe(() => redraw((count) => count + 1)), [store]);
  const { state } = store;
  const t = strings(state.language);
  const desk = { state, act: store, t, language: state.language, locale: localeOf(state.language) };
  useEffect(() => {
    document.documentElement.lang = state.language;
    document.title = titleOf(state, t);
  });
  if (state.phase === "loading") return null;
  return html`<${Desk.Provider} value=${desk}>${state.phase === "failed" ? html`<${Failure} />` : html`<${Page} />`}<//>`;
}

function Failure() {
  const { act, t } = useDesk();
  return html`<div class="failure" role="alert">
    <h1>${t.loadFailed}</h1>
    <p>${t.unreachable}</p>
    <button type="button" class="button primary" onClick=${() => act.start()}>${t.tryAgain}</button>
  </div>`;
}

function Page() {
  const { state, act, t } = useDesk();
  const view = state.views[state.me]?.at(-1);
  const onKey = (event) => {
    if (event.key !== "Escape") pageKeys(event, { state, act });
    if (event.key !== "Escape" || event.target.closest?.("dialog")) return;
    if (state.sidebarOpen) act.toggleSidebar(false);
    else if (state.thread) act.closeThread();
  };
  useEffect(() => {
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  return html`<div class=${classes("page", state.thread && "with-thread")}>
    <${Topbar} />
    ${!state.online && html`<p class="banner" role="status"><${Icon} name="warn" />${t.reconnecting}</p>`}
    <${Sidebar} />
    ${state.sidebarOpen && html`<div class="veil" onClick=${() => act.toggleSidebar(false)}></div>`}
    <${Conversation} />
    ${state.thread && html`<${Thread} />`}
    ${state.panel === "switcher" && html`<${Switcher} />`}
    ${state.panel === "keys" && html`<${Keys} />`}
    ${view && html`<${Modal} key=${view.id} view=${view} />`}
    <p class="notice" role="status" data-testid="notice">${state.notice}</p>
    <p class="unseen" role="status" data-testid="announcer">${announced(state, t)}</p>
  </div>`;
}

function titleOf(state, t) {
  const channel = state.channels.find(({ id }) => id === state.channel);
  const count = unreadOf(state.unread, state.me);
  return [count ? `(${count})` : "", channel ? `${placeName(channel)} ·` : "", t.product].filter(Boolean).join(" ");
}

function announced({ announcement, ...state }, t) {
  return announcement ? t.says(nameOf(state, announcement.user), plainWords(announcement.text, state)) : "";
}
