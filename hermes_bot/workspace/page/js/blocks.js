// Block Kit of a message or a modal as elements. What it cannot draw it names, so that nothing vanishes unseen.
import { html, useDesk, useState } from "./ui.js";
import { Confirm } from "./confirm.js";
import { Icon } from "./icons.js";
import { Input } from "./inputs.js";
import { Plain, TextObject } from "./richtext.js";
import { reason } from "./strings.js";

const DRAWN = { section: Section, context: ContextLine, actions: Actions, header: Header, divider: Divider, image: Image };

// place is what a click names besides the element: {channel, ts} or {view_id, state}; form is a modal's values and errors.
export function Blocks({ blocks, place, form }) {
  return blocks.map((block, index) => {
    const key = block.block_id ?? index;
    if (block.type === "input" && form) return html`<${Input} key=${key} block=${block} form=${form} />`;
    const Drawn = DRAWN[block.type] ?? Unknown;
    return html`<${Drawn} key=${key} block=${block} place=${place} />`;
  });
}

// True when a message's blocks make a card (an answer to act on) and not only a paragraph.
export const isCard = (blocks) => blocks.some(({ type, fields, accessory }) => type !== "section" || fields || accessory);

function Section({ block, place }) {
  return html`<div class=${block.accessory ? "block section with-accessory" : "block section"}>
    <div class="section-body">
      ${block.text && html`<div class="rich"><${TextObject} value=${block.text} /></div>`}
      ${block.fields && html`<div class="fields">
        ${block.fields.map((field, index) => html`<div class="rich field" key=${index}><${TextObject} value=${field} /></div>`)}
      </div>`}
    </div>
    ${block.accessory && html`<div class="accessory"><${Element} element=${block.accessory} block=${block} place=${place} /></div>`}
  </div>`;
}

function ContextLine({ block }) {
  return html`<div class="block context">
    ${block.elements.map((element, index) =>
      element.type === "image"
        ? html`<${ImageLink} key=${index} image=${element} />`
        : html`<span class="rich" key=${index}><${TextObject} value=${element} /></span>`)}
  </div>`;
}

function Actions({ block, place }) {
  return html`<div class="block actions">
    ${block.elements.map((element, index) =>
      html`<${Element} key=${element.action_id ?? index} element=${element} block=${block} place=${place} />`)}
  </div>`;
}

function Header({ block }) {
  return html`<h3 class="block header"><${TextObject} value=${block.text} /></h3>`;
}

function Divider() {
  return html`<hr class="block divider" />`;
}

function Image({ block }) {
  return html`<div class="block image"><${ImageLink} image=${block} /></div>`;
}

// Pictures are not loaded: the page makes no request beyond its own server. Their words lead to them.
function ImageLink({ image }) {
  const words = image.alt_text || image.title?.text || image.image_url;
  const safe = /^https?:/i.test(image.image_url ?? "");
  const inside = html`<${Icon} name="image" /><${Plain} text=${words} />`;
  if (!safe) return html`<span class="image-link">${inside}</span>`;
  return html`<a class="image-link" href=${image.image_url} target="_blank" rel="noopener noreferrer">${inside}</a>`;
}

function Unknown({ block }) {
  const { t } = useDesk();
  return html`<p class="block not-drawn">${t.notDrawn(block.type)}</p>`;
}

function Element({ element, block, place }) {
  if (element.type === "button") return html`<${Button} element=${element} block=${block} place=${place} />`;
  if (element.type === "image") return html`<${ImageLink} image=${element} />`;
  return html`<${Unknown} block=${element} />`;
}

function Button({ element, block, place }) {
  const { act, t } = useDesk();
  const [phase, setPhase] = useState("idle"); // "idle" | "asking" | "waiting"
  const [problem, setProblem] = useState("");
  const press = async () => {
    if (phase === "waiting") return;
    setPhase("waiting");
    setProblem("");
    const answer = await act.click(place, element, block.block_id);
    setPhase("idle");
    if (!answer.ok) setProblem(t.actionFailed(reason(t, answer.error)));
  };
  const style = element.style === "primary" || element.style === "danger" ? element.style : "plain";
  const label = html`<${Plain} text=${element.text?.text} />`;
  const link = /^https?:/i.test(element.url ?? "") ? element.url : "";
  return html`<span class="button-place">
    ${link
      ? html`<a class="button ${style}" href=${link} target="_blank" rel="noopener noreferrer" onClick=${press}>${label}</a>`
      : html`<button type="button" class="button ${style}" aria-busy=${phase === "waiting"} aria-label=${element.accessibility_label}
          onClick=${element.confirm ? () => setPhase("asking") : press}>${label}</button>`}
    ${phase === "asking" && html`<${Confirm} confirm=${element.confirm} onYes=${press} onNo=${() => setPhase("idle")} />`}
    ${problem && html`<span class="problem" role="alert"><${Icon} name="warn" />${problem}</span>`}
  </span>`;
}
