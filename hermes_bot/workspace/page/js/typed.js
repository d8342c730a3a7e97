// What a person typed, read back from what is stored: tokens become names and addresses again, entities and shortcodes
// characters; inside of code nothing stands for anything else.
import { SHORTCODE, emoji } from "./emoji.js";
import { unescape } from "./mrkdwn.js";
import { nameOf } from "./people.js";

export function typedOf(text, state) {
  const pieces = String(text ?? "").split(/(```[\s\S]*?```|`[^`\n]+`)/);
  return unescape(pieces.map((piece, index) => (index % 2 ? piece : words(piece, state))).join(""));
}

function words(text, state) {
  return text.split(/(<[^<>\n]+>)/).map((piece, index) => (index % 2 ? token(piece.slice(1, -1), state) ?? piece : drawn(piece))).join("");
}

const drawn = (text) => text.replace(SHORTCODE, (whole, name) => emoji(name) ?? whole);

function token(inner, state) {
  const [target, label = ""] = inner.split("|");
  if (target.startsWith("@")) return `@${nameOf(state, target.slice(1)) || label}`;
  if (target.startsWith("#")) return `#${state.channels.find(({ id }) => id === target.slice(1))?.name ?? label}`;
  if (target.startsWith("!subteam^")) return `@${state.groups.find(({ id }) => id === target.slice(9))?.handle ?? label}`;
  if (target.startsWith("!")) return `@${target.slice(1).split("^")[0]}`;
  if (target.startsWith("mailto:")) return label || target.slice(7);
  return /^https?:/.test(target) ? target : undefined;
}
