// A button that opens a short list of deeds.
import { html, useRef, useState } from "./ui.js";
import { Icon } from "./icons.js";
import { Popover, moveFocus } from "./popover.js";

// items: [{key, words, icon?, danger?, note?, href?, take}]; take gets nothing and is called once the menu is shut.
export function Menu({ label, icon = "more", look = "quiet", align = "end", items, testid, busy }) {
  const [open, setOpen] = useState(false);
  const button = useRef(null);
  const close = () => setOpen(false);
  const take = (item) => {
    close();
    item.take?.();
  };
  return html`<button ref=${button} type="button" class=${look} title=${label} aria-label=${label} aria-haspopup="menu" aria-expanded=${open}
      aria-busy=${busy ?? null} data-testid=${testid} onClick=${() => setOpen(!open)}><${Icon} name=${icon} /></button>
    ${open && html`<${Popover} anchor=${button} align=${align} role="menu" name="menu" label=${label} onClose=${close}>
      <div class="menu-items" role="none" onKeyDown=${(event) => moveFocus(event, "[role=menuitem]")}>
        ${items.map((item) => html`<${Item} key=${item.key} item=${item} onTake=${() => take(item)} />`)}
      </div>
    <//>`}`;
}

function Item({ item, onTake }) {
  const inside = html`${item.icon && html`<${Icon} name=${item.icon} />`}<span>${item.words}${item.note && html`<small>${item.note}</small>`}</span>`;
  const look = item.danger ? "menu-item danger" : "menu-item";
  if (item.href) return html`<a role="menuitem" tabindex="-1" class=${look} href=${item.href} target="_blank" rel="noopener noreferrer" onClick=${onTake}>${inside}</a>`;
  return html`<button type="button" role="menuitem" tabindex="-1" class=${look} onClick=${onTake}>${inside}</button>`;
}
