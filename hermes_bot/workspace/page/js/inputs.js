// An input block: label, field, hint, and what is wrong with it.
import { html, useDesk } from "./ui.js";
import { useDeed } from "./elements.js";
import { Field, isGroup } from "./fields.js";
import { Icon } from "./icons.js";
import { Plain } from "./richtext.js";

export function Input({ block, place, form }) {
  const { act, t } = useDesk();
  const { element } = block;
  const id = `input-${place.view_id ?? place.ts}-${block.block_id}`;
  const error = form.errors[block.block_id];
  const deed = useDeed({ place, element, block, form });
  const described = [error && `${id}-error`, block.hint && `${id}-hint`].filter(Boolean).join(" ") || null;
  const words = html`<${Plain} text=${block.label?.text} />${block.optional && html` <small>${t.optional}</small>`}`;
  const group = isGroup(element);
  const naming = { id, "aria-describedby": described, "aria-invalid": error ? "true" : null, ...(group ? { "aria-labelledby": `${id}-label` } : {}) };
  return html`<div class=${error ? "input wrong" : "input"}>
    ${group ? html`<span class="label" id="${id}-label">${words}</span>` : html`<label class="label" for=${id}>${words}</label>`}
    <${Field} element=${element} value=${form.values[block.block_id]?.[element.action_id] ?? null} naming=${naming}
      ask=${(typed) => act.suggest(place, element.action_id, typed)} onChange=${(value) => form.change(block.block_id, element.action_id, value)}
      onCommit=${(value) => block.dispatch_action && deed.start(value || null)} />
    ${deed.asides}
    ${error && html`<p class="problem" id="${id}-error" role="alert"><${Icon} name="warn" />${error}</p>`}
    ${block.hint && html`<p class="hint" id="${id}-hint"><${Plain} text=${block.hint.text} /></p>`}
  </div>`;
}
