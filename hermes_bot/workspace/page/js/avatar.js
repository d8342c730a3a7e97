// A person's mark: initials on the hue that they keep all over the page; the bot's is the wing.
import { classes, html } from "./ui.js";
import { Wing } from "./icons.js";
import { initials } from "./people.js";

export function Avatar({ person }) {
  return html`<span class=${classes("avatar", person.role === "bot" && "bot")} style=${{ "--hue": person.hue }} aria-hidden="true">
    ${person.role === "bot" ? html`<${Wing} />` : initials(person.name)}
  </span>`;
}
