// Channels and direct messages of the person in the seat, with a mark on what they have not looked at.
import { classes, html, useDesk } from "./ui.js";
import { Icon } from "./icons.js";
import { Mark } from "./panels.js";
import { loudIn, unreadIn } from "./unread.js";

export function Sidebar() {
  const { state, act, t } = useDesk();
  const rooms = state.channels.filter(({ kind }) => kind === "channel");
  const talks = state.channels.filter(({ kind }) => kind !== "channel");
  return html`<nav class=${classes("sidebar", state.sidebarOpen && "open")} aria-label=${t.channels} data-testid="sidebar">
    <button type="button" class="quiet only-narrow close" aria-label=${t.closeSidebar} onClick=${() => act.toggleSidebar(false)}>
      <${Icon} name="close" />
    </button>
    <${Group} title=${t.channels} channels=${rooms} />
    <${Group} title=${t.directMessages} channels=${talks} />
    <p class="foot">
      <button type="button" class="foot-key" onClick=${() => act.openPanel("switcher")}>${t.switcher} <kbd>Ctrl</kbd> <kbd>K</kbd></button>
      <button type="button" class="foot-key" onClick=${() => act.openPanel("keys")}>${t.keysTitle} <kbd>Ctrl</kbd> <kbd>/</kbd></button>
      ${t.localTitle}
    </p>
  </nav>`;
}

function Group({ title, channels }) {
  if (!channels.length) return null;
  return html`<h2>${title}</h2>
    <ul>${channels.map((channel) => html`<${Entry} key=${channel.id} channel=${channel} />`)}</ul>`;
}

function Entry({ channel }) {
  const { state, act, t } = useDesk();
  const here = channel.id === state.channel;
  const unread = unreadIn(state.unread, state.me, channel.id).length;
  const loud = loudIn(state.unread, state.me, channel.id);
  return html`<li>
    <button type="button" class=${classes("entry", unread && "unread")} data-testid="channel-${channel.id}"
      aria-current=${here ? "page" : null} onClick=${() => act.go({ channel: channel.id })}>
      <${Mark} channel=${channel} />
      <span class="name">${channel.name}</span>
      ${unread > 0 && html`<span class=${loud ? "count" : "dot"} role="img" aria-label=${t.unread(unread)}>${loud || ""}</span>`}
    </button>
  </li>`;
}
