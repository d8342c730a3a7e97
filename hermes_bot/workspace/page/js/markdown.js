// Standard Markdown (markdown blocks, streamed answers) as elements. marked reads it; of what it reads only the tokens are
// used, and HTML inside a text stays text.
import { lexer } from "marked";
import { html, useDesk, useMemo } from "./ui.js";
import { emoji } from "./emoji.js";
import { parseInline, unescape } from "./mrkdwn.js";
import { inline } from "./richtext.js";

const TAGS = { strong: "strong", em: "em", del: "s" };
const SAFE_LINK = /^(https?:|mailto:)/i;
const SPECIAL = /(<[@#!][^<>\n]+>|:[a-z0-9_+'-]+:)/;

export function Markdown({ text }) {
  const desk = useDesk();
  const tokens = useMemo(() => lexer(String(text ?? "")), [text]);
  return html`<div class="rich markdown">${drawn(tokens, desk)}</div>`;
}

const drawn = (tokens, desk) => (tokens ?? []).map((token) => one(token, desk));

function one(token, desk) {
  const inside = () => drawn(token.tokens, desk);
  if (TAGS[token.type]) return html`<${TAGS[token.type]}>${inside()}<//>`;
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return null;
    case "heading":
      return html`<p class="md-heading level-${token.depth}" role="heading" aria-level="3">${inside()}</p>`;
    case "paragraph":
      return html`<p>${inside()}</p>`;
    case "blockquote":
      return html`<blockquote>${inside()}</blockquote>`;
    case "list":
      return list(token, desk);
    case "table":
      return table(token, desk);
    case "code":
      return html`<pre tabindex="0">${unescape(token.text)}</pre>`;
    case "codespan":
      return html`<code>${unescape(token.text)}</code>`;
    case "hr":
      return html`<hr />`;
    case "br":
      return html`<br />`;
    case "link":
    case "image":
      return link(token, desk);
    default:
      return token.tokens ? inside() : words(token.type === "escape" ? token.text : token.raw, desk);
  }
}

// Names, channels and emoji stand in Markdown as they do in mrkdwn.
function words(text, desk) {
  return text.split(SPECIAL).map((piece, index) => {
    if (index % 2 === 0) return unescape(piece);
    return piece[0] === "<" ? parseInline(piece).map((node) => inline(node, desk)) : emoji(piece.slice(1, -1)) ?? piece;
  });
}

function link({ type, href, text, tokens, raw }, desk) {
  const label = type === "image" ? text || href : drawn(tokens, desk);
  if (!SAFE_LINK.test(href)) return html`<span>${unescape(raw)}</span>`;
  return html`<a href=${href} target="_blank" rel="noopener noreferrer">${label}</a>`;
}

function list({ ordered, start, items }, desk) {
  const rows = items.map((item) => html`<li class=${item.task ? "task" : null}>
    ${item.task && html`<input type="checkbox" disabled checked=${item.checked} aria-label=${desk.t.taskStates[item.checked ? "complete" : "pending"]} />`}${drawn(item.tokens, desk)}
  </li>`);
  return ordered ? html`<ol start=${start}>${rows}</ol>` : html`<ul>${rows}</ul>`;
}

function table({ header, rows, align }, desk) {
  const cell = (tag) => (entry, at) => html`<${tag} class=${align[at] ? `to-${align[at]}` : null}>${drawn(entry.tokens, desk)}<//>`;
  return html`<div class="table-frame" tabindex="0"><table>
    <thead><tr>${header.map(cell("th"))}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map(cell("td"))}</tr>`)}</tbody>
  </table></div>`;
}
