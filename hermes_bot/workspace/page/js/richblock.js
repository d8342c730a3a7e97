// A rich_text block: what Slack's own composer writes, and what stands in cells and task cards.
import { html, useDesk } from "./ui.js";
import { emoji } from "./emoji.js";
import { inline } from "./richtext.js";

const KINDS = { user: "user", usergroup: "group", channel: "channel", broadcast: "everyone", emoji: "emoji", date: "date" };
const SAFE_LINK = /^(https?:|mailto:|tel:)/i;

export function RichBlock({ block }) {
  const desk = useDesk();
  return (block.elements ?? []).map((part) => drawn(part, desk));
}

function drawn(part, desk) {
  const inside = (part.elements ?? []).map((piece) => (piece.elements ? drawn(piece, desk) : word(piece, desk)));
  switch (part.type) {
    case "rich_text_list": {
      const rows = part.elements.map((row) => html`<li>${row.elements.map((piece) => word(piece, desk))}</li>`);
      const look = `rich-list indent-${Math.min(part.indent ?? 0, 5)}`;
      return part.style === "ordered" ? html`<ol class=${look} start=${(part.offset ?? 0) + 1}>${rows}</ol>` : html`<ul class=${look}>${rows}</ul>`;
    }
    case "rich_text_quote":
      return html`<blockquote>${inside}</blockquote>`;
    case "rich_text_preformatted":
      return html`<pre tabindex="0">${inside}</pre>`;
    default:
      return html`<p>${inside}</p>`;
  }
}

function word(piece, desk) {
  const { style = {} } = piece;
  let shown = bare(piece, desk);
  if (style.code) shown = html`<code>${shown}</code>`;
  if (style.strike) shown = html`<s>${shown}</s>`;
  if (style.italic) shown = html`<em>${shown}</em>`;
  return style.bold ? html`<strong>${shown}</strong>` : shown;
}

function bare(piece, desk) {
  if (piece.type === "link") {
    const words = piece.text || piece.url;
    return SAFE_LINK.test(piece.url ?? "") ? html`<a href=${piece.url} target="_blank" rel="noopener noreferrer">${words}</a>` : words;
  }
  if (piece.type === "emoji") return emoji(piece.skin_tone ? `${piece.name}::skin-tone-${piece.skin_tone}` : piece.name) ?? `:${piece.name}:`;
  if (piece.type === "color") return piece.value;
  const kind = KINDS[piece.type];
  if (!kind) return piece.text ?? "";
  const id = piece.user_id ?? piece.usergroup_id ?? piece.channel_id ?? "";
  return inline({ kind, id, name: piece.range ?? "", label: "", seconds: piece.timestamp, format: piece.format ?? "", fallback: piece.fallback ?? "" }, desk);
}
