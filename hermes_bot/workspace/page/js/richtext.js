// mrkdwn as elements. Text reaches the page through text nodes alone, so no message can bring markup of its own.
import { html, useDesk } from "./ui.js";
import { SHORTCODE, emoji } from "./emoji.js";
import { parse, parseInline, unescape } from "./mrkdwn.js";
import { nameOf } from "./people.js";
import { slackDate } from "./time.js";

const TAGS = { bold: "strong", italic: "em", strike: "s" };

export function Rich({ text }) {
  const desk = useDesk();
  return parse(text).map((block) => {
    if (block.kind === "pre") return html`<pre>${block.text}</pre>`;
    const children = block.children.map((node) => inline(node, desk));
    return block.kind === "quote" ? html`<blockquote>${children}</blockquote>` : html`<p>${children}</p>`;
  });
}

// A Block Kit text object: mrkdwn, or plain_text, in which only emoji are read.
export function TextObject({ value }) {
  if (!value) return null;
  if (value.type === "mrkdwn") return html`<${Rich} text=${value.text} />`;
  return html`<${Plain} text=${value.text} />`;
}

export const plain = (text) =>
  unescape(String(text ?? "")).replace(SHORTCODE, (whole, name) => emoji(name) ?? whole);

export const Plain = ({ text }) => plain(text);

export function inline(node, desk) {
  const { state, t, locale } = desk;
  switch (node.kind) {
    case "bold":
    case "italic":
    case "strike":
      return html`<${TAGS[node.kind]}>${node.children.map((child) => inline(child, desk))}<//>`;
    case "code":
      return html`<code>${node.text}</code>`;
    case "emoji":
      return emoji(node.name) ?? `:${node.name}:`;
    case "link":
      return html`<a href=${node.href} target="_blank" rel="noopener noreferrer">${node.label}</a>`;
    case "date":
      return html`<${When} node=${node} text=${slackDate(node, locale, t) || node.fallback} />`;
    case "channel":
      return html`<${ChannelMention} node=${node} />`;
    case "text":
      return node.text;
    default:
      return html`<span class=${mentionClass(node, state)}>@${mentionName(node, state)}</span>`;
  }
}

function When({ node, text }) {
  if (node.link) return html`<a href=${node.link} target="_blank" rel="noopener noreferrer">${text}</a>`;
  return html`<time title=${node.fallback}>${text}</time>`;
}

function ChannelMention({ node }) {
  const { state, act } = useDesk();
  const known = state.channels.find(({ id }) => id === node.id);
  const name = `#${known?.name || node.label || node.id}`;
  if (!known) return html`<span class="mention">${name}</span>`;
  return html`<button type="button" class="mention" onClick=${() => act.go({ channel: node.id })}>${name}</button>`;
}

function mentionName(node, state) {
  if (node.kind === "user") return nameOf(state, node.id) || node.label;
  if (node.kind === "group") return state.groups.find(({ id }) => id === node.id)?.handle ?? (node.label.replace(/^@/, "") || node.id);
  return node.label.replace(/^@/, "") || node.name;
}

const mentionClass = (node, state) => (node.id === state.me || node.kind === "everyone" ? "mention to-me" : "mention");

// The words of a message in one line, for screen readers and titles.
export function plainWords(text, state) {
  const words = (node) => {
    if (node.children) return node.children.map(words).join("");
    if (node.kind === "emoji") return emoji(node.name) ?? "";
    if (node.kind === "link" || node.kind === "channel") return node.label;
    if (node.kind === "date") return node.fallback;
    return node.text ?? `@${mentionName(node, state)}`;
  };
  return parseInline(String(text ?? "")).map(words).join("").replace(/\s+/g, " ").trim();
}
