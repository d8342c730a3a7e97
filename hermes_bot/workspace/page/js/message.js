// One message: who, when, what, what may be done with it, and the way into its thread.
import { classes, html, useDesk } from "./ui.js";
import { Attachment } from "./attachment.js";
import { Avatar } from "./avatar.js";
import { MessageBlocks } from "./blocks.js";
import { Editor } from "./editor.js";
import { Files } from "./files.js";
import { Icon } from "./icons.js";
import { personOf, tagOf } from "./people.js";
import { Reactions } from "./reactions.js";
import { Rich } from "./richtext.js";
import { workIn } from "./session.js";
import { clock, dateOf, fullTime, shortWhen } from "./time.js";
import { Tools, mayChange } from "./tools.js";

export function Message({ message, joined, inThread }) {
  const { state, act, t } = useDesk();
  const author = personOf(state, message.user, message.username);
  const editing = state.editing === message.ts;
  const whole = !message.ephemeral && !message.deleted;
  if (NOTES.has(message.subtype)) return html`<${Note} message=${message} />`;
  const byKey = {
    e: () => mayChange(message, state) && act.startEdit(message.ts),
    t: () => whole && !inThread && act.openThread(message.ts),
    Enter: () => whole && !inThread && act.openThread(message.ts),
  };
  const onKeyDown = (event) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey || !byKey[event.key]) return;
    event.preventDefault();
    byKey[event.key]();
  };
  const look = classes("message", joined && "joined", message.ephemeral && "ephemeral", editing && "in-work", state.target === message.ts && "target");
  return html`<li class=${look} tabindex="-1" data-ts=${message.ts} data-testid="message-${message.ts}" onKeyDown=${onKeyDown}>
    ${message.ephemeral && html`<p class="only-you"><${Icon} name="eye" />${t.onlyYou}</p>`}
    ${joined
      ? html`<${Stamp} ts=${message.ts} />`
      : message.deleted ? html`<span class="avatar nobody" aria-hidden="true"><${Icon} name="trash" /></span>` : html`<${Avatar} person=${author} />`}
    <div class="message-main">
      ${!joined && html`<p class="byline">
        ${!message.deleted && html`<b class="author">${author.name || t.somebody}</b>`}
        ${tagOf(author, t) && html`<span class="tag ${author.role}">${tagOf(author, t)}</span>`}
        <${Stamp} ts=${message.ts} />
      </p>`}
      ${message.broadcast && html`<p class="from-thread"><${Icon} name="reply" />
        ${inThread ? t.alsoInChannel : html`<button type="button" class="as-link" onClick=${() => act.openThread(message.thread_ts)}>${t.fromThread}</button>`}</p>`}
      ${editing ? html`<${Editor} message=${message} />` : html`<${Body} message=${message} />`}
      ${whole && html`<${Reactions} message=${message} />`}
      ${!inThread && html`<${ThreadLink} message=${message} />`}
    </div>
    ${!editing && html`<${Tools} message=${message} inThread=${inThread} />`}
  </li>`;
}

const NOTES = new Set(["channel_join", "channel_leave", "group_join", "group_leave", "channel_topic"]);

// What happened to the conversation itself, in one quiet line.
function Note({ message }) {
  return html`<li class="message note" tabindex="-1" data-ts=${message.ts} data-testid="message-${message.ts}">
    <${Stamp} ts=${message.ts} /><div class="rich"><${Rich} text=${message.text} /></div>
  </li>`;
}

function Stamp({ ts }) {
  const { locale } = useDesk();
  return html`<time class="stamp" dateTime=${dateOf(ts).toISOString()} title=${fullTime(ts, locale)}>${clock(ts, locale)}</time>`;
}

function Body({ message }) {
  const { state, t } = useDesk();
  if (message.deleted) return html`<p class="gone">${t.deleted}</p>`;
  const place = { channel: state.channel, ts: message.ts };
  const writing = message.streaming === "in_progress";
  // What a person's own client makes of the text (rich_text) says no more than the text does.
  const blocks = (message.blocks ?? []).filter(({ type }) => message.bot || type !== "rich_text");
  return html`<div class=${classes("body", writing && "streaming")} aria-busy=${writing ? "true" : null}>
    ${blocks.length > 0
      ? html`<${MessageBlocks} blocks=${blocks} place=${place} />`
      : message.text && html`<div class="rich"><${Rich} text=${message.text} /></div>`}
    ${(message.attachments ?? []).map((one, index) => html`<${Attachment} key=${index} attachment=${one} />`)}
    ${message.edited && html`<span class="edited">(${t.edited})</span>`}
    <${Files} files=${message.files ?? []} />
  </div>`;
}

// Also shown without a counted reply, when something for this person alone waits in the thread.
function ThreadLink({ message }) {
  const { state, act, t, locale } = useDesk();
  const unread = (state.unread[state.me]?.[state.channel] ?? []).some(({ thread }) => thread === message.ts);
  const work = workIn(state, message.ts, t);
  if (!message.reply_count && !unread && !work) return null;
  return html`<button type="button" class=${classes("thread-link", unread && "has-new")} id="thread-of-${message.ts}" data-testid="thread-link-${message.ts}"
    onClick=${() => act.openThread(message.ts)}>
    <${Icon} name="reply" />${message.reply_count || unread ? html`<b>${message.reply_count ? t.replies(message.reply_count) : t.onlyYou}</b>` : ""}
    ${work && html`<span class="at-work">${work}</span>`}
    ${unread && html`<span class="new-badge">${t.newReplies}</span>`}
    ${message.latest_reply && html`<span class="when">${t.lastReply(shortWhen(message.latest_reply, locale))}</span>`}
  </button>`;
}
