// Blocks that hold others: cards, rows of cards, and containers that fold.
import { html, useDesk } from "./ui.js";
import { Blocks } from "./blocks.js";
import { Element } from "./elements.js";
import { ImageTile, Picture } from "./images.js";
import { RichBlock } from "./richblock.js";
import { TextObject, plain } from "./richtext.js";

export function Card({ block, place, form }) {
  return html`<article class="block card-block">
    ${block.hero_image && html`<${Picture} image=${block.hero_image} />`}
    <div class="card-title">${block.icon && html`<${ImageTile} image=${block.icon} />`}
      <div class="rich">
        ${block.title && html`<b><${TextObject} value=${block.title} /></b>`}
        ${block.subtitle && html`<div class="soft"><${TextObject} value=${block.subtitle} /></div>`}
      </div>
    </div>
    ${block.body && html`<div class="rich"><${TextObject} value=${block.body} /></div>`}
    ${block.actions?.length > 0 && html`<div class="actions">${block.actions.map((element) =>
      html`<${Element} key=${element.action_id} element=${element} block=${block} place=${place} form=${form} />`)}</div>`}
    ${block.subtext && html`<div class="rich soft"><${TextObject} value=${block.subtext} /></div>`}
  </article>`;
}

export function Carousel({ block, place, form }) {
  const { t } = useDesk();
  return html`<div class="block carousel" tabindex="0" role="region" aria-label=${t.cards}>
    ${block.elements.map((card, index) => html`<${Card} key=${card.block_id ?? index} block=${card} place=${place} form=${form} />`)}
  </div>`;
}

export function Container({ block, place, form }) {
  const title = html`${block.rich_text_title ? html`<${RichBlock} block=${block.rich_text_title} />` : plain(block.title?.text)}
    ${block.subtitle && html`<span class="soft"><${TextObject} value=${block.subtitle} /></span>`}`;
  const inside = html`<div class="container-inside"><${Blocks} blocks=${block.child_blocks} place=${place} form=${form} /></div>`;
  if (!block.is_collapsible) return html`<section class="block container"><div class="container-title rich">${title}</div>${inside}</section>`;
  return html`<details class="block container" open=${!block.default_collapsed}><summary class="container-title rich">${title}</summary>${inside}</details>`;
}

// A film is not loaded, as pictures from elsewhere are not: its title leads to it.
export function Video({ block }) {
  const title = { text: plain(block.title?.text) };
  return html`<div class="block"><${Picture} image=${{ image_url: block.title_url ?? block.video_url, alt_text: plain(block.description?.text) || block.alt_text, title }} /></div>`;
}
