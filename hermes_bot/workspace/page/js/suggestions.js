// The list that opens under "@" (people, groups, the bots), "#" (channels), ":" (emoji) and "/" (commands): arrows choose,
// Enter or Tab takes, Escape shuts it.
import { html, useDesk, useState } from "./ui.js";
import { Avatar } from "./avatar.js";
import { findEmoji } from "./emoji.js";
import { Icon } from "./icons.js";
import { personOf, tagOf } from "./people.js";

const NAME = /(?:^|\s)([@#:])([\p{L}\p{N}_+-]*)$/u;
const COMMAND = /^\/([\w-]*)$/;

// replaceText(text, caret) puts in what was taken.
export function useSuggestions({ text, caret, replaceText, thread }) {
  const { state, t } = useDesk();
  const [chosen, setChosen] = useState(0);
  const [shut, setShut] = useState("");
  const { offers, begun } = shut === text ? { offers: [], begun: "" } : matching(state, text, caret, thread, t);
  const at = Math.max(0, Math.min(chosen, offers.length - 1));
  const take = ({ word }) => {
    const start = caret - begun.length;
    replaceText(`${text.slice(0, start)}${word} ${text.slice(caret)}`, start + word.length + 1);
    setChosen(0);
  };
  const moves = {
    ArrowDown: () => setChosen((at + 1) % offers.length),
    ArrowUp: () => setChosen((at + offers.length - 1) % offers.length),
    Enter: () => take(offers[at]),
    Tab: () => take(offers[at]),
    Escape: () => setShut(text),
  };
  const onKeyDown = (event) => {
    if (!offers.length || event.shiftKey || !moves[event.key]) return false;
    event.preventDefault();
    event.stopPropagation();
    moves[event.key]();
    return true;
  };
  const id = thread ? "thread-suggestions" : "suggestions";
  const list = offers.length > 0 && html`<ul class="mention-list" role="listbox" id=${id} aria-label=${begun[0] === "/" ? t.commandList : t.mentionList}>
    ${offers.map((offer, index) => html`<li key=${offer.key} id="${id}-${index}" role="option" aria-selected=${index === at}
      onMouseDown=${(event) => (event.preventDefault(), take(offer))}>${offer.mark}${offer.shown} <small>${offer.note}</small></li>`)}
  </ul>`;
  const open = offers.length > 0;
  const aria = { "aria-autocomplete": "list", "aria-controls": open ? id : null, "aria-activedescendant": open ? `${id}-${at}` : null };
  return { list, onKeyDown, aria };
}

// The offers, and the part of the text that one of them takes the place of.
function matching(state, text, caret, thread, t) {
  const before = text.slice(0, caret);
  const command = COMMAND.exec(text);
  if (command && !thread) {
    const all = state.bots.flatMap((bot) => bot.commands.map((word) => ({ key: word, word, shown: word, note: bot.name, mark: html`<${Icon} name="slash" />` })));
    return { begun: before, offers: all.filter(({ word }) => word.startsWith(text) && word !== text) };
  }
  const [, sign, typed] = NAME.exec(before) ?? [];
  if (!sign) return { begun: "", offers: [] };
  const offers = { "@": named, "#": places, ":": faces }[sign];
  return { begun: sign + typed, offers: offers(state, typed.toLocaleLowerCase(), t) };
}

function places(state, wanted, t) {
  const found = state.channels.filter(({ kind, name }) => kind === "channel" && name.startsWith(wanted));
  return found.slice(0, 7).map(({ id, name, private: isPrivate }) =>
    ({ key: id, word: `#${name}`, shown: name, note: t.channel, mark: html`<${Icon} name=${isPrivate ? "lock" : "hash"} />` }));
}

// From the second letter on, so that a colon alone opens nothing.
function faces(state, wanted) {
  if (wanted.length < 2) return [];
  return findEmoji(wanted, 7).map(({ char, names: [name] }) => ({ key: name, word: char, shown: `:${name}:`, note: "", mark: html`<span class="face">${char}</span>` }));
}

function named(state, wanted, t) {
  const people = [...state.bots, ...state.people].map(({ id }) => personOf(state, id));
  const fits = (name) => name.split(/[\s(-]+/).some((word) => word.toLocaleLowerCase().startsWith(wanted));
  const offers = people.map((person) => ({ key: person.id, word: `@${person.name}`, shown: person.name, note: tagOf(person, t), mark: html`<${Avatar} person=${person} />` }));
  const groups = state.groups.map(({ id, handle }) => ({ key: id, word: `@${handle}`, shown: handle, note: t.group, mark: html`<${Icon} name="people" />` }));
  return [...offers, ...groups].filter(({ shown }) => fits(shown)).slice(0, 7);
}
