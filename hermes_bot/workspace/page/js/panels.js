// Two dialogs for the keyboard: a jump to any conversation, and the list of keys.
import { html, useDesk, useState } from "./ui.js";
import { Avatar } from "./avatar.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icons.js";
import { personOf } from "./people.js";
import { unreadIn } from "./unread.js";

export function Switcher() {
  const { state, act, t } = useDesk();
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState(0);
  const wanted = words.trim().toLocaleLowerCase().replace(/^[#@]/, "");
  const unread = ({ id }) => (unreadIn(state.unread, state.me, id).length ? 0 : 1);
  const found = state.channels.filter(({ name }) => name.toLocaleLowerCase().includes(wanted)).sort((one, other) => unread(one) - unread(other)).slice(0, 9);
  const at = Math.max(0, Math.min(chosen, found.length - 1));
  const close = () => act.openPanel("");
  const take = (channel) => {
    close();
    if (channel) act.go({ channel: channel.id });
  };
  const onKeyDown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !found.length) return;
    event.preventDefault();
    setChosen((at + step + found.length) % found.length);
  };
  return html`<${Dialog} testid="switcher" small title=${t.switcher} onClose=${close} onSubmit=${() => take(found[at])}>
    <input type="search" role="combobox" autocomplete="off" data-focus aria-label=${t.switcher} aria-expanded="true" aria-controls="switcher-list"
      aria-activedescendant=${found.length ? `switch-${at}` : null} placeholder=${t.switcherHint} value=${words}
      onInput=${({ target }) => (setWords(target.value), setChosen(0))} onKeyDown=${onKeyDown} />
    <ul class="switcher-list" id="switcher-list" role="listbox" aria-label=${t.channels}>
      ${found.map((channel, index) => html`<li key=${channel.id} id="switch-${index}" role="option" aria-selected=${index === at} onClick=${() => take(channel)}>
        <${Mark} channel=${channel} /><span class="name">${channel.name}</span>${unread(channel) === 0 && html`<span class="dot"></span>`}
      </li>`)}
    </ul>
    ${!found.length && html`<p class="soft">${t.switcherNone}</p>`}
  <//>`;
}

export function Mark({ channel }) {
  const { state } = useDesk();
  if (channel.kind === "channel") return html`<${Icon} name=${channel.private ? "lock" : "hash"} />`;
  const other = channel.members.find((id) => id !== state.me) ?? state.me;
  return html`<${Avatar} person=${personOf(state, other)} />`;
}

export function Keys() {
  const { act, t } = useDesk();
  return html`<${Dialog} testid="keys" small title=${t.keysTitle} onClose=${() => act.openPanel("")}>
    <dl class="keys-list">
      ${t.keysList.map(([keys, words]) => html`<div key=${words}><dt>${keys.split(" ").map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${words}</dd></div>`)}
    </dl>
  <//>`;
}

// Ctrl+K jumps, Ctrl+/ lists the keys, Alt+arrows go to the next conversation; each also with the Mac's own key.
export function pageKeys(event, { state, act }) {
  if (document.querySelector("dialog[open]")) return;
  const ctrl = event.ctrlKey || event.metaKey;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (ctrl && event.key.toLowerCase() === "k") act.openPanel("switcher");
  else if (ctrl && event.key === "/") act.openPanel("keys");
  else if (event.altKey && step && !ctrl) {
    const shown = inOrder(state.channels);
    const at = shown.findIndex(({ id }) => id === state.channel);
    act.go({ channel: shown[(at + step + shown.length) % shown.length].id });
  } else return;
  event.preventDefault();
}

// As the sidebar has them: channels, then direct messages.
export const inOrder = (channels) => [...channels.filter(({ kind }) => kind === "channel"), ...channels.filter(({ kind }) => kind !== "channel")];
