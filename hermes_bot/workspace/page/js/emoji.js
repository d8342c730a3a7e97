// Emoji by the shortcodes that Slack uses; an unknown one stays as it was written.
import GROUPS from "../vendor/emoji.js";

// [{key, emoji: [{char, names, zh}]}] in the order of a picker.
export const groups = Object.entries(GROUPS).map(([key, lines]) => ({ key, emoji: lines.split("\n").map(read) }));

function read(line) {
  const [char, names, zh] = line.split("|");
  return { char, names: names.split(","), zh };
}

const all = groups.flatMap(({ emoji }) => emoji);
const EMOJI = new Map(all.flatMap(({ char, names }) => names.map((name) => [name, char])));

// A shortcode between its colons, with a skin tone where it has one.
export const SHORTCODE = /:([a-z0-9_+'-]+(?:::skin-tone-[2-6](?:-[2-6])?)?):/g;

const TONE = /::skin-tone-([2-6])(?:-([2-6]))?$/;
const modifier = (tone) => String.fromCodePoint(0x1f3fb + Number(tone) - 2);

// The character of a name, in its skin tone; of two tones each person has one, where the emoji is made of two.
export function emoji(name) {
  const [tone, first, second] = TONE.exec(name) ?? [""];
  const char = EMOJI.get(name.slice(0, name.length - tone.length));
  if (!char || !tone) return char;
  const tones = [first, second ?? first];
  return char.replace(/(\p{Emoji_Modifier_Base})\uFE0F?/gu, (_, person) => person + modifier(tones.shift() ?? first));
}

// Those whose name or Chinese label holds the words; whole names and beginnings first.
export function findEmoji(words, most = 60) {
  const wanted = words.trim().toLocaleLowerCase().replace(/^:|:$/g, "").replace(/\s+/g, "_");
  if (!wanted) return [];
  const rank = ({ names, zh }) => {
    if (names.includes(wanted)) return 0;
    if (names.some((name) => name.startsWith(wanted))) return 1;
    return names.some((name) => name.includes(wanted)) || zh.includes(wanted) ? 2 : 3;
  };
  const ranked = all.map((one) => [rank(one), one]).filter(([place]) => place < 3);
  return ranked.sort(([one], [other]) => one - other).slice(0, most).map(([, one]) => one);
}

const KEY = "hermes.emoji";
const FIRST = ["+1", "white_check_mark", "eyes", "tada", "heart", "pray", "raised_hands", "smile"];

// The names used last in this browser, the newest first.
export function lastUsed() {
  const kept = (localStorage.getItem(KEY) ?? "").split(",").filter((name) => EMOJI.has(name));
  return [...new Set([...kept, ...FIRST])].slice(0, 8);
}

export const keepUsed = (name) => localStorage.setItem(KEY, [name, ...lastUsed().filter((one) => one !== name)].slice(0, 8).join(","));
