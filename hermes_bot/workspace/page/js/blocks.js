// Block Kit of a message, a modal or the App Home as elements. What it cannot draw it names, so that nothing vanishes unseen.
import { classes, html, useDesk } from "./ui.js";
import { Card, Carousel, Container, Video } from "./cards.js";
import { Element } from "./elements.js";
import { useForm } from "./forms.js";
import { ImageTile, Picture } from "./images.js";
import { Input } from "./inputs.js";
import { Markdown } from "./markdown.js";
import { RichBlock } from "./richblock.js";
import { TextObject, plain } from "./richtext.js";
import { Table } from "./table.js";
import { Plan, TaskCard } from "./tasks.js";

const DRAWN = {
  section: Section, context: ContextLine, actions: Actions, context_actions: Actions, header: Header, divider: Divider,
  image: ({ block }) => html`<div class="block"><${Picture} image=${block} /></div>`,
  input: Input,
  markdown: ({ block }) => html`<div class="block"><${Markdown} text=${block.text} /></div>`,
  rich_text: ({ block }) => html`<div class="block rich"><${RichBlock} block=${block} /></div>`,
  table: Table, data_table: Table, task_card: TaskCard, plan: Plan, alert: Alert, card: Card, carousel: Carousel, container: Container,
  video: Video,
};

// place is what a click names besides the element: {channel, ts} or {view_id}; form is what the fields hold.
export function Blocks({ blocks, place, form }) {
  return blocks.map((block, index) => {
    const Drawn = DRAWN[block.type] ?? Unknown;
    return html`<${Drawn} key=${block.block_id ?? index} block=${block} place=${place} form=${form} />`;
  });
}

// Blocks of a message, with the values of their fields.
export function MessageBlocks({ blocks, place }) {
  const form = useForm(blocks);
  return html`<div class=${classes("blocks", isCard(blocks) && "card")}><${Blocks} blocks=${blocks} place=${place} form=${form} /></div>`;
}

const PROSE = new Set(["rich_text", "markdown", "context_actions"]);

// True when a message's blocks make a card (an answer to act on) and not only a paragraph.
const isCard = (blocks) =>
  blocks.some(({ type, fields, accessory }) => (type !== "section" && !PROSE.has(type)) || fields || accessory);

function Section({ block, place, form }) {
  return html`<div class=${block.accessory ? "block section with-accessory" : "block section"}>
    <div class="section-body">
      ${block.text && html`<div class="rich"><${TextObject} value=${block.text} /></div>`}
      ${block.fields && html`<div class="fields">
        ${block.fields.map((field, index) => html`<div class="rich field" key=${index}><${TextObject} value=${field} /></div>`)}
      </div>`}
    </div>
    ${block.accessory && html`<div class="accessory">
      <${Element} element=${block.accessory} block=${block} place=${place} form=${form} label=${plain(block.text?.text).replace(/[*_~\`]/g, "")} />
    </div>`}
  </div>`;
}

function ContextLine({ block }) {
  return html`<div class="block context">
    ${block.elements.map((element, index) =>
      element.type === "image"
        ? html`<${ImageTile} key=${index} image=${element} />`
        : html`<span class="rich" key=${index}><${TextObject} value=${element} /></span>`)}
  </div>`;
}

function Actions({ block, place, form }) {
  return html`<div class=${classes("block actions", block.type === "context_actions" && "context-actions")}>
    ${block.elements.map((element, index) =>
      html`<${Element} key=${element.action_id ?? index} element=${element} block=${block} place=${place} form=${form} />`)}
  </div>`;
}

function Header({ block }) {
  return html`<h3 class="block header"><${TextObject} value=${block.text} /></h3>`;
}

function Divider() {
  return html`<hr class="block divider" />`;
}

function Alert({ block }) {
  return html`<div class="block alert ${block.level ?? "default"} rich"><${TextObject} value=${block.text} /></div>`;
}

function Unknown({ block }) {
  const { t } = useDesk();
  return html`<p class="block not-drawn">${t.notDrawn(block.type)}</p>`;
}
