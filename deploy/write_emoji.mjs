// Writes what the page and the workspace's server know of emoji, both from an unpacked emojibase-data:
// hermes_bot/workspace/page/vendor/emoji.js (a picker's groups) and hermes_bot/workspace/emoji.json (every form with its name).
//   npm pack emojibase-data && tar xf emojibase-data-*.tgz && node deploy/write_emoji.mjs package
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const read = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
const { version } = read("package.json");
const names = read("en/shortcodes/iamcal.json"); // Slack's own names
const chinese = new Map(read("zh/data.json").map(({ hexcode, label }) => [hexcode, label]));
const groups = read("en/messages.json").groups.sort((one, other) => one.order - other.order);

// The selector that asks for colour is left out where colour is what stands there anyway.
const lean = (emoji) => emoji.replace(/^(\p{Emoji_Presentation})\uFE0F$/u, "$1");
const line = ({ hexcode, emoji }) => [lean(emoji), [names[hexcode]].flat().join(","), chinese.get(hexcode) ?? ""].join("|");
const all = read("en/data.json").sort((one, other) => one.order - other.order);
const parts = groups
  .filter(({ key }) => key !== "component")
  .map(({ key, order }) => [key, all.filter(({ group, hexcode }) => group === order && names[hexcode]).map(line)]);

writeFileSync(
  new URL("../hermes_bot/workspace/page/vendor/emoji.js", import.meta.url),
  `// Made by deploy/write_emoji.mjs from emojibase-data ${version} (MIT): group, then a line of "emoji|names|Chinese label" each.\n` +
    `export default ${JSON.stringify(Object.fromEntries(parts.map(([key, lines]) => [key, lines.join("\n")])), null, 1)};\n`,
);

// A skin tone is numbered from 2 in Slack; a pair of people with two tones has both.
const tones = (tone) => `::skin-tone-${[tone].flat().map((one) => one + 1).join("-")}`;
const named = all.filter(({ hexcode }) => names[hexcode]);
const forms = named.flatMap(({ hexcode, emoji, skins = [] }) => {
  const [first] = [names[hexcode]].flat();
  return [[lean(emoji), [names[hexcode]].flat().join(",")], ...skins.map((one) => [one.emoji, first + tones(one.tone)])];
});
writeFileSync(
  new URL("../hermes_bot/workspace/emoji.json", import.meta.url),
  `${JSON.stringify({ source: `emojibase-data ${version} (MIT), by deploy/write_emoji.mjs`, forms: Object.fromEntries(forms) }, null, 0).replaceAll('","', '",\n"')}\n`,
);
