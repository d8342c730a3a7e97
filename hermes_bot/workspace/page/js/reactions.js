// The reactions under a message, and the way to one more.
import { html, useDesk, useRef, useState } from "./ui.js";
import { emoji } from "./emoji.js";
import { Icon } from "./icons.js";
import { nameOf } from "./people.js";
import { EmojiPicker } from "./picker.js";

export function Reactions({ message }) {
  const { state, act } = useDesk();
  if (!message.reactions?.length) return null;
  return html`<div class="reactions">
    ${message.reactions.map(({ name, count, users }) => {
      const mine = users.includes(state.me);
      const who = users.map((id) => nameOf(state, id)).join(", ");
      return html`<button type="button" key=${name} class="reaction" aria-pressed=${mine} title="${who} :${name}:"
        onClick=${() => act.react(message.ts, name, !mine)}><span>${emoji(name) ?? `:${name}:`}</span> ${count}</button>`;
    })}
    <${AddReaction} message=${message} look="reaction add" />
  </div>`;
}

export function AddReaction({ message, look }) {
  const { state, act, t } = useDesk();
  const [open, setOpen] = useState(false);
  const button = useRef(null);
  const take = (name) => {
    const mine = message.reactions?.some((one) => one.name === name && one.users.includes(state.me));
    if (!mine) act.react(message.ts, name, true);
  };
  return html`<button ref=${button} type="button" class=${look} title=${t.addReaction} aria-label=${t.addReaction} aria-haspopup="dialog" aria-expanded=${open}
      onClick=${() => setOpen(!open)}><${Icon} name="smile" /></button>
    ${open && html`<${EmojiPicker} anchor=${button} align="end" onTake=${take} onClose=${() => setOpen(false)} />`}`;
}
