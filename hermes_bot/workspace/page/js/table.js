// A table block: rows of raw_text, raw_number and rich_text cells, the first row as its head.
import { classes, html, useDesk } from "./ui.js";
import { RichBlock } from "./richblock.js";
import { plain } from "./richtext.js";

export function Table({ block }) {
  const { t } = useDesk();
  const [head = [], ...rows] = block.rows ?? [];
  const look = (column) => {
    const { align, is_wrapped: wrapped } = block.column_settings?.[column] ?? {};
    return classes(align && align !== "left" && `to-${align}`, !wrapped && "one-line");
  };
  const cells = (tag) => (cell, column) => html`<${tag} key=${column} class=${look(column)} ...${tag === "th" ? { scope: "col" } : {}}><${Cell} cell=${cell} /><//>`;
  const caption = plain(block.caption?.text ?? block.caption ?? block.title?.text ?? block.title);
  return html`<div class="block table-frame" tabindex="0" role="region" aria-label=${caption || t.table}><table>
    ${caption && html`<caption>${caption}</caption>`}
    <thead><tr>${head.map(cells("th"))}</tr></thead>
    <tbody>${rows.map((row, index) => html`<tr key=${index}>${row.map(cells("td"))}</tr>`)}</tbody>
  </table></div>`;
}

function Cell({ cell }) {
  if (cell?.type === "rich_text") return html`<${RichBlock} block=${cell} />`;
  return plain(cell?.text ?? cell?.value);
}
