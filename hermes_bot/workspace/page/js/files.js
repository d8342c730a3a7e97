// Files of a message: pictures that this server keeps are shown, everything else is a line with its name, kind and size.
import { html, useDesk } from "./ui.js";
import { fileUrl } from "./api.js";
import { Icon } from "./icons.js";
import { sizeOf } from "./time.js";

const SHOWN = /^image\/(png|jpeg|gif|webp)$/;

export function Files({ files }) {
  if (!files.length) return null;
  return html`<div class="files">${files.map((file) => html`<${File} key=${file.id} file=${file} />`)}</div>`;
}

function File({ file }) {
  const { state, t, locale } = useDesk();
  const href = file.mode === "hosted" || file.url_private ? fileUrl(state.me, file) : "";
  const name = file.title || file.name || file.id;
  const about = [file.pretty_type || file.filetype, file.size ? sizeOf(file.size, locale) : ""].filter(Boolean).join(" · ");
  if (!href) return html`<span class="file"><${Icon} name="file" /><span><b>${name}</b><small>${about}</small></span></span>`;
  if (SHOWN.test(file.mimetype)) {
    return html`<a class="file-picture" href=${href} target="_blank" rel="noopener noreferrer"><img src=${href} alt=${name} loading="lazy" /></a>`;
  }
  return html`<a class="file" href=${href} download=${file.name} title=${t.download}><${Icon} name="file" /><span><b>${name}</b><small>${about}</small></span></a>`;
}
