// What may be done with a message: react, reply, and in a menu what is rarer.
import { html, useDesk, useState } from "./ui.js";
import { Confirm } from "./confirm.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";
import { AddReaction } from "./reactions.js";

// One's own words may be changed and taken back; of a message with files only the words.
export const mayChange = (message, state) => message.user === state.me && !message.bot && !message.deleted && !message.ephemeral;

export function Tools({ message, inThread }) {
  const { state, act, t } = useDesk();
  const [asking, setAsking] = useState(false);
  if (message.ephemeral || message.deleted) return null;
  const own = mayChange(message, state);
  const erase = () => {
    setAsking(false);
    act.erase(message.ts);
  };
  const items = [
    own && { key: "edit", icon: "pencil", words: t.edit, take: () => act.startEdit(message.ts) },
    { key: "link", icon: "link", words: t.copyLink, take: () => act.copyLink(message) },
    ...state.bots.flatMap((bot) => bot.shortcuts.filter((one) => one.of_message).map((one) => ({
      key: one.callback_id, icon: "spark", words: one.name, note: bot.name, take: () => act.shortcut(one.callback_id, message.ts),
    }))),
    own && { key: "delete", icon: "trash", words: t.erase, danger: true, take: () => setAsking(true) },
  ].filter(Boolean);
  const question = { title: { text: t.eraseTitle }, text: { type: "plain_text", text: t.eraseText }, confirm: { text: t.erase }, style: "danger" };
  return html`<div class="tools">
    <${AddReaction} message=${message} look="quiet" />
    ${!inThread && html`<button type="button" class="quiet" title=${t.replyInThread} aria-label=${t.replyInThread}
      onClick=${() => act.openThread(message.ts)}><${Icon} name="reply" /></button>`}
    <${Menu} label=${t.moreOf} items=${items} testid="tools-${message.ts}" />
    ${asking && html`<${Confirm} confirm=${question} onYes=${erase} onNo=${() => setAsking(false)} />`}
  </div>`;
}
