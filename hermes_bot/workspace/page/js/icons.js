// A few line icons, drawn for this page.
import { html } from "./ui.js";

const PATHS = {
  hash: "M6 2.5 4.5 13.5M11.5 2.5 10 13.5M2.5 5.5h11.5M2 10.5h11.5",
  lock: "M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  menu: "M2 4h12M2 8h12M2 12h12",
  send: "M2.5 13.5 14 8 2.5 2.5 4 8zM4 8h5",
  reply: "M2.5 3h11v7.5h-6L4.5 13v-2.5h-2z",
  eye: "M1.5 8s2.4-4.5 6.5-4.5S14.5 8 14.5 8 12.1 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
  down: "M8 3v10M3.5 8.5 8 13l4.5-4.5",
  image: "M2 3h12v10H2zM2 11l3.5-3.5 2.5 2.5 2-2 4 3.5M10.5 5.8v.1",
  file: "M4 1.8h5l3 3v9.4H4zM9 1.8v3h3",
  warn: "M8 2 1.5 13.5h13zM8 6.5v3.2M8 11.6v.1",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}

// The mark of the workspace: three feathers of a wing.
const FEATHERS =
  "M3 19C6 9 15 4.5 29 4c-1.5 5-7 8.5-14 9.5C10 14.2 6 15.5 3 19z" +
  "M5.5 22.5C9 17.5 15 16.5 25.5 13.5c-1.5 4.5-6 6.7-11 7.3-3.5.4-6.5.5-9 1.7z" +
  "M9.5 26c2.5-2.7 6.5-3 12-5-1 3.8-4 5.6-7.5 5.8-1.7.1-3.2-.2-4.5-.8z";

export function Wing() {
  return html`<svg class="wing" viewBox="0 0 32 32" aria-hidden="true"><path d=${FEATHERS} /></svg>`;
}
