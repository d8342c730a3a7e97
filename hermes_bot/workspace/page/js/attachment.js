// The older form of an attachment: a bar with a title, words and fields; also how a forwarded message arrives.
import { html } from "./ui.js";
import { Rich, plain } from "./richtext.js";

export function Attachment({ attachment: one }) {
  const link = /^https?:/i.test(one.title_link ?? "") ? one.title_link : "";
  const title = plain(one.title);
  return html`<div class="attachment">
    ${one.pretext && html`<div class="rich"><${Rich} text=${one.pretext} /></div>`}
    ${one.author_name && html`<p class="soft">${plain(one.author_name)}</p>`}
    ${title && html`<p><b>${link ? html`<a href=${link} target="_blank" rel="noopener noreferrer">${title}</a>` : title}</b></p>`}
    ${(one.text || (!title && one.fallback)) && html`<div class="rich"><${Rich} text=${one.text || one.fallback} /></div>`}
    ${one.fields?.length > 0 && html`<dl>${one.fields.map(({ title: name, value }) => html`<div key=${name}><dt>${plain(name)}</dt><dd class="rich"><${Rich} text=${value} /></dd></div>`)}</dl>`}
    ${one.footer && html`<p class="soft">${plain(one.footer)}</p>`}
  </div>`;
}
