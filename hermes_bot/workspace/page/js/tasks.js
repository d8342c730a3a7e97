// What an agent is about: a plan of tasks, each with its state, details and sources.
import { html, useDesk } from "./ui.js";
import { Icon } from "./icons.js";
import { RichBlock } from "./richblock.js";
import { plain } from "./richtext.js";

const ICONS = { pending: "ring", in_progress: "busy", complete: "check", error: "warn" };

export function Plan({ block }) {
  return html`<section class="block plan">
    <h3>${plain(block.title?.text ?? block.title)}</h3>
    ${(block.tasks ?? []).map((task, index) => html`<${TaskCard} key=${task.task_id ?? index} block=${task} />`)}
  </section>`;
}

export function TaskCard({ block }) {
  const { t } = useDesk();
  const status = block.status in ICONS ? block.status : "pending";
  return html`<div class="task-card ${status}">
    <p class="task-title"><span role="img" aria-label=${t.taskStates[status]}><${Icon} name=${ICONS[status]} /></span>${plain(block.title?.text ?? block.title)}</p>
    ${[block.details, block.output].map((part, index) => part && html`<div class="rich task-part" key=${index}>
      ${typeof part === "string" ? plain(part) : html`<${RichBlock} block=${part} />`}</div>`)}
    ${block.sources?.length > 0 && html`<p class="sources">${block.sources.map((source) => html`<${Source} key=${source.url} source=${source} />`)}</p>`}
  </div>`;
}

function Source({ source }) {
  const words = plain(source.text) || source.url;
  if (!/^https?:/i.test(source.url ?? "")) return html`<span class="source">${words}</span>`;
  return html`<a class="source" href=${source.url} target="_blank" rel="noopener noreferrer">${words}</a>`;
}
