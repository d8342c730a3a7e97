// What a person typed, read back from what is stored: tokens become names and addresses again, entities characters.
import { unescape } from "./mrkdwn.js";
import { nameOf } from "./people.js";

export function typedOf(text, state) {
  return unescape(String(text ?? "").replace(/<([^<>\n]+)>/g, (whole, inner) => token(inner, state) ?? whole));
}

function token(inner, state) {
  const [target, label = ""] = inner.split("|");
  if (target.startsWith("@")) return `@${nameOf(state, target.slice(1)) || label}`;
  if (target.startsWith("#")) return `#${state.channels.find(({ id }) => id === target.slice(1))?.name ?? label}`;
  if (target.startsWith("!subteam^")) return `@${state.groups.find(({ id }) => id === target.slice(9))?.handle ?? label}`;
  if (target.startsWith("!")) return `@${target.slice(1).split("^")[0]}`;
  if (target.startsWith("mailto:")) return label || target.slice(7);
  return /^https?:/.test(target) ? target : undefined;
}
