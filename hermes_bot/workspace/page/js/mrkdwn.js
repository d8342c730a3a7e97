// Slack's mrkdwn as a tree of plain values. No DOM here: richtext.js turns the tree into text nodes.

const WORD = /[\p{L}\p{N}]/u;
const MARKS = { "*": "bold", _: "italic", "~": "strike" };
const TOKEN = /`([^`\n]+)`|<([^<>\n]+)>|:([a-z0-9_+'-]+(?:::skin-tone-[2-6](?:-[2-6])?)?):/uy;
const SAFE_LINK = /^(https?:|mailto:|tel:)/i;

export const unescape = (text) => text.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&" })[name]);

// Blocks in order: {kind: "pre", text} | {kind: "quote"|"lines", children}.
export function parse(text) {
  const blocks = [];
  String(text ?? "").split(/```([\s\S]*?)```/).forEach((piece, index) => {
    if (index % 2) blocks.push({ kind: "pre", text: plainTokens(piece.replace(/^\n|\n$/g, "")) });
    else blocks.push(...parseLines(index ? piece.replace(/^\n/, "") : piece));
  });
  return blocks;
}

function parseLines(text) {
  if (!text.trim()) return [];
  const groups = [];
  let restIsQuote = false;
  for (const line of text.split("\n")) {
    const all = line.match(/^(?:&gt;|>){3} ?(.*)$/);
    const one = line.match(/^(?:&gt;|>) ?(.*)$/);
    const kind = restIsQuote || all || one ? "quote" : "lines";
    const content = restIsQuote ? line : (all ?? one)?.[1] ?? line;
    restIsQuote ||= Boolean(all);
    if (groups.at(-1)?.kind === kind) groups.at(-1).lines.push(content);
    else groups.push({ kind, lines: [content] });
  }
  return groups.map(({ kind, lines }) => ({ kind, children: parseInline(lines.join("\n")) }));
}

export function parseInline(text) {
  const nodes = [];
  const unclosed = {};
  let plain = "";
  const flush = () => {
    if (plain) nodes.push({ kind: "text", text: unescape(plain) });
    plain = "";
  };
  for (let at = 0; at < text.length; ) {
    const found = tokenAt(text, at) ?? markAt(text, at, unclosed);
    if (found) {
      flush();
      nodes.push(found.node);
      at = found.end;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  flush();
  return nodes;
}

function tokenAt(text, at) {
  TOKEN.lastIndex = at;
  const match = TOKEN.exec(text);
  if (!match) return null;
  const [whole, code, angle, emoji] = match;
  const end = at + whole.length;
  if (code !== undefined) return { node: { kind: "code", text: plainTokens(code) }, end };
  if (angle !== undefined) return { node: angleNode(angle), end };
  return { node: { kind: "emoji", name: emoji }, end };
}

function angleNode(inner) {
  const bar = inner.indexOf("|");
  const target = bar < 0 ? inner : inner.slice(0, bar);
  const label = bar < 0 ? "" : unescape(inner.slice(bar + 1));
  if (target.startsWith("@")) return { kind: "user", id: target.slice(1), label };
  if (target.startsWith("#")) return { kind: "channel", id: target.slice(1), label };
  if (target.startsWith("!subteam^")) return { kind: "group", id: target.slice(9), label };
  if (target.startsWith("!date^")) return dateNode(target, label);
  if (target.startsWith("!")) return { kind: "everyone", name: target.slice(1).split("^")[0], label };
  const href = unescape(target);
  if (SAFE_LINK.test(href)) return { kind: "link", href, label: label || href.replace(/^mailto:/, "") };
  return { kind: "text", text: `<${unescape(inner)}>` };
}

function dateNode(target, fallback) {
  const [, seconds, format = "", link = ""] = target.split("^");
  return { kind: "date", seconds: Number(seconds), format, link: SAFE_LINK.test(link) ? link : "", fallback };
}

// A mark opens after a non-word and closes before one, holds no line break, and does not touch a space inside.
// unclosed remembers up to where a search for the closing mark was in vain, so that a long text takes no longer than its length.
function markAt(text, at, unclosed) {
  const mark = text[at];
  const kind = MARKS[mark];
  if (!kind || at < unclosed[mark] || WORD.test(text[at - 1] ?? "") || /\s/.test(text[at + 1] ?? " ")) return null;
  let end = at + 1;
  for (; end < text.length && text[end] !== "\n"; end += 1) {
    TOKEN.lastIndex = end;
    const token = TOKEN.exec(text);
    if (token) {
      end += token[0].length - 1;
    } else if (text[end] === mark && end > at + 1 && !/\s/.test(text[end - 1]) && !WORD.test(text[end + 1] ?? "")) {
      return { node: { kind, children: parseInline(text.slice(at + 1, end)) }, end: end + 1 };
    }
  }
  unclosed[mark] = end;
  return null;
}

// Inside code nothing is formatted; a wrapped address shows as the address alone.
function plainTokens(text) {
  return unescape(text.replace(/<((?:https?:|mailto:)[^<>|\n]+)(?:\|[^<>\n]*)?>/g, "$1"));
}
