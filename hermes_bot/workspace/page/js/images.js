// Pictures. Those of this server are shown; of others the words stand here and lead to them, for a page that fetched them
// would tell their server who reads what and when.
import { html, useDesk } from "./ui.js";
import { fileUrl } from "./api.js";
import { Icon } from "./icons.js";
import { plain } from "./richtext.js";

// Where a picture is on this server, "" where it is on another: a file of the workspace, or an address of its own.
function own({ slack_file: file, image_url: url }, user) {
  if (file?.id) return fileUrl(user, file);
  return url && URL.canParse(url) && new URL(url).origin === location.origin ? url : "";
}

export function Picture({ image }) {
  const url = image.image_url ?? "";
  const words = plain(image.alt_text);
  const title = plain(image.title?.text);
  const here = own(image, useDesk().state.me);
  if (here) {
    return html`<figure class="picture">${title && html`<figcaption>${title}</figcaption>`}
      <a href=${here} target="_blank" rel="noopener noreferrer"><img src=${here} alt=${words} loading="lazy" /></a>
    </figure>`;
  }
  const inside = html`<${Icon} name="image" /><span><b>${title || words || url}</b><small>${title && words ? `${words} · ` : ""}${hostOf(url)}</small></span>`;
  if (!hostOf(url)) return html`<span class="picture-tile">${inside}</span>`;
  return html`<a class="picture-tile" href=${url} target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer">${inside}<${Icon} name="out" /></a>`;
}

// The small form, in a context line or beside a section.
export function ImageTile({ image }) {
  const url = image.image_url ?? "";
  const words = plain(image.alt_text) || url;
  const here = own(image, useDesk().state.me);
  if (here) return html`<img class="small-picture" src=${here} alt=${words} loading="lazy" />`;
  const inside = html`<${Icon} name="image" />${words}`;
  if (!hostOf(url)) return html`<span class="image-link">${inside}</span>`;
  return html`<a class="image-link" href=${url} target="_blank" rel="noopener noreferrer">${inside}</a>`;
}

function hostOf(url) {
  const safe = /^https?:/i.test(url) && URL.canParse(url);
  return safe ? new URL(url).host : "";
}
