// One message: who, when, what, and the way into its thread.
import { classes, html, useDesk } from "./ui.js";
import { Blocks, isCard } from "./blocks.js";
import { emoji } from "./emoji.js";
import { Icon, Wing } from "./icons.js";
import { initials, nameOf, personOf } from "./people.js";
import { Rich } from "./richtext.js";
import { clock, dateOf, fullTime, shortWhen } from "./time.js";

export function Avatar({ person }) {
  return html`<span class=${classes("avatar", person.role === "bot" && "bot")} style=${{ "--hue": person.hue }} aria-hidden="true">
    ${person.role === "bot" ? html`<${Wing} />` : initials(person.name)}
  </span>`;
}

export function Message({ message, joined, inThread }) {
  const { state, act, t } = useDesk();
  const author = personOf(state, message.user, message.username);
  const canReply = !inThread && !message.ephemeral && !message.deleted;
  return html`<li class=${classes("message", joined && "joined", message.ephemeral && "ephemeral")} data-testid="message-${message.ts}">
    ${message.ephemeral && html`<p class="only-you"><${Icon} name="eye" />${t.onlyYou}</p>`}
    ${joined
      ? html`<${Stamp} ts=${message.ts} />`
      : html`<${Avatar} person=${author} />`}
    <div class="message-main">
      ${!joined && html`<p class="byline">
        <b class="author">${author.name || t.somebody}</b>
        ${author.role !== "member" && html`<span class="tag ${author.role}">${t.roles[author.role]}</span>`}
        <${Stamp} ts=${message.ts} />
      </p>`}
      <${Body} message=${message} />
      <${Reactions} message=${message} />
      ${!inThread && html`<${ThreadLink} message=${message} />`}
    </div>
    ${canReply && html`<div class="tools">
      <button type="button" class="quiet" title=${t.replyInThread} aria-label=${t.replyInThread}
        onClick=${() => act.openThread(message.ts)}><${Icon} name="reply" /></button>
    </div>`}
  </li>`;
}

function Stamp({ ts }) {
  const { locale } = useDesk();
  return html`<time class="stamp" dateTime=${dateOf(ts).toISOString()} title=${fullTime(ts, locale)}>${clock(ts, locale)}</time>`;
}

function Body({ message }) {
  const { state, t } = useDesk();
  if (message.deleted) return html`<p class="gone">${t.deleted}</p>`;
  const blocks = (message.blocks ?? []).filter(({ type }) => type !== "rich_text");
  const place = { channel: state.channel, ts: message.ts };
  return html`<div class="body">
    ${blocks.length
      ? html`<div class=${classes("blocks", isCard(blocks) && "card")}><${Blocks} blocks=${blocks} place=${place} /></div>`
      : html`<div class="rich"><${Rich} text=${message.text} /></div>`}
    ${message.edited && html`<span class="edited">(${t.edited})</span>`}
    ${(message.files ?? []).map((file) => html`<span class="file" key=${file.id}><${Icon} name="file" />${file.title || file.name}</span>`)}
  </div>`;
}

function Reactions({ message }) {
  const { state, act } = useDesk();
  if (!message.reactions?.length) return null;
  return html`<p class="reactions">
    ${message.reactions.map(({ name, count, users }) => {
      const mine = users.includes(state.me);
      const title = `:${name}: ${users.map((id) => nameOf(state, id)).join(", ")}`;
      return html`<button type="button" key=${name} class="reaction" aria-pressed=${mine} title=${title}
        onClick=${() => act.react(message.ts, name, !mine)}>${emoji(name) ?? `:${name}:`} ${count}</button>`;
    })}
  </p>`;
}

// Also shown without a counted reply, when something for this person alone waits in the thread.
function ThreadLink({ message }) {
  const { state, act, t, locale } = useDesk();
  const unread = (state.unread[state.me]?.[state.channel] ?? []).some(({ thread }) => thread === message.ts);
  if (!message.reply_count && !unread) return null;
  return html`<button type="button" class=${classes("thread-link", unread && "has-new")} id="thread-of-${message.ts}" data-testid="thread-link-${message.ts}"
    onClick=${() => act.openThread(message.ts)}>
    <${Icon} name="reply" /><b>${message.reply_count ? t.replies(message.reply_count) : t.onlyYou}</b>
    ${unread && html`<span class="new-badge">${t.newReplies}</span>`}
    ${message.latest_reply && html`<span class="when">${t.lastReply(shortWhen(message.latest_reply, locale))}</span>`}
  </button>`;
}
