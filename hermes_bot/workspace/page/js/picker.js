// Emoji to choose from: by their groups, or by a word in either language.
import { html, useDesk, useMemo, useState } from "./ui.js";
import { emoji, findEmoji, groups, keepUsed, lastUsed } from "./emoji.js";
import { Popover, moveFocus } from "./popover.js";

const COLUMNS = 8;

export function EmojiPicker({ anchor, align, onTake, onClose }) {
  const { t } = useDesk();
  const [words, setWords] = useState("");
  const found = useMemo(() => findEmoji(words), [words]);
  const take = (name) => {
    keepUsed(name);
    onClose();
    onTake(name);
  };
  const onKeyDown = (event) => {
    if (event.target.matches("input")) {
      if (event.key === "Enter" && found[0]) {
        event.preventDefault();
        take(found[0].names[0]);
      }
      if (event.key !== "ArrowDown") return;
    }
    moveFocus(event, ".emoji-one", COLUMNS);
  };
  return html`<${Popover} anchor=${anchor} align=${align} role="dialog" label=${t.emojiPicker} name="picker" testid="emoji-picker" onClose=${onClose}>
    <div class="picker-inside" onKeyDown=${onKeyDown}>
      <input type="search" data-focus aria-label=${t.emojiSearch} placeholder=${t.emojiSearch} value=${words}
        onInput=${({ target }) => setWords(target.value)} />
      <div class="picker-list">
        ${words.trim()
          ? html`<${Row} name=${found.length ? t.emojiFound : t.emojiNone} list=${found} onTake=${take} />`
          : html`<${Row} name=${t.emojiLast} list=${lastUsed().map((name) => ({ char: emoji(name), names: [name] }))} onTake=${take} />
            ${groups.map(({ key, emoji: list }) => html`<${Row} key=${key} name=${t.emojiGroups[key]} list=${list} onTake=${take} />`)}`}
      </div>
    </div>
  <//>`;
}

function Row({ name, list, onTake }) {
  return html`<section aria-label=${name}>
    <h3>${name}</h3>
    <div class="emoji-grid">
      ${list.map(({ char, names: [first] }) => html`<button type="button" class="emoji-one" key=${first} title=":${first}:" aria-label=":${first}:"
        onClick=${() => onTake(first)}>${char}</button>`)}
    </div>
  </section>`;
}
