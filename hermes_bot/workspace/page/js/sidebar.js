// Channels and direct messages of the person in the seat, with a mark on what they have not looked at.
import { classes, html, useDesk } from "./ui.js";
import { Icon } from "./icons.js";
import { Avatar } from "./message.js";
import { personOf } from "./people.js";
import { loudIn, unreadIn } from "./unread.js";

export function Sidebar() {
  const { state, act, t } = useDesk();
  const of = (kind) => state.channels.filter((channel) => channel.kind === kind);
  return html`<nav class=${classes("sidebar", state.sidebarOpen && "open")} aria-label=${t.channels} data-testid="sidebar">
    <button type="button" class="quiet only-narrow close" aria-label=${t.closeSidebar} onClick=${() => act.toggleSidebar(false)}>
      <${Icon} name="close" />
    </button>
    <${Group} title=${t.channels} channels=${of("channel")} />
    <${Group} title=${t.directMessages} channels=${of("dm")} />
    <p class="foot">${t.localTitle}</p>
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
  const other = channel.members.find((id) => id !== state.me) ?? state.me;
  return html`<li>
    <button type="button" class=${classes("entry", unread && "unread")} data-testid="channel-${channel.id}"
      aria-current=${here ? "page" : null} onClick=${() => act.go({ channel: channel.id })}>
      ${channel.kind === "dm"
        ? html`<${Avatar} person=${personOf(state, other)} />`
        : html`<${Icon} name=${channel.private ? "lock" : "hash"} />`}
      <span class="name">${channel.name}</span>
      ${unread > 0 && html`<span class=${loud ? "count" : "dot"} role="img" aria-label=${t.unread(unread)}>${loud || ""}</span>`}
    </button>
  </li>`;
}
