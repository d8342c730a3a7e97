// An input block of a modal: label, field, hint, and what is wrong with it.
import { html, useDesk } from "./ui.js";
import { Icon } from "./icons.js";
import { Plain } from "./richtext.js";

const NATIVE = { plain_text_input: "text", number_input: "number", email_text_input: "email", url_text_input: "url", datepicker: "date" };

export function Input({ block, form }) {
  const { t } = useDesk();
  const { element } = block;
  const id = `input-${block.block_id}`;
  const error = form.errors[block.block_id];
  return html`<div class=${error ? "input wrong" : "input"}>
    <label for=${id}><${Plain} text=${block.label?.text} />${block.optional && html` <small>${t.optional}</small>`}</label>
    <${Field} id=${id} block=${block} element=${element} form=${form} error=${error} />
    ${error && html`<p class="problem" id="${id}-error" role="alert"><${Icon} name="warn" />${error}</p>`}
    ${block.hint && html`<p class="hint" id="${id}-hint"><${Plain} text=${block.hint.text} /></p>`}
  </div>`;
}

function Field({ id, block, element, form, error }) {
  const { t } = useDesk();
  const type = NATIVE[element.type];
  if (!type && element.type !== "static_select") return html`<p class="not-drawn">${t.notDrawn(element.type)}</p>`;
  const described = [error && `${id}-error`, block.hint && `${id}-hint`].filter(Boolean).join(" ");
  const shared = {
    id,
    name: element.action_id,
    value: form.values[block.block_id]?.[element.action_id] ?? "",
    onInput: (event) => form.change(block.block_id, element.action_id, event.target.value),
    "aria-invalid": error ? "true" : null,
    "aria-describedby": described || null,
    "data-focus": element.focus_on_load ? "" : null,
  };
  if (!type) return html`<${Select} element=${element} shared=${shared} />`;
  const text = { placeholder: element.placeholder?.text ?? "", maxlength: element.max_length ?? null };
  if (element.multiline) return html`<textarea rows="4" ...${shared} ...${text}></textarea>`;
  return html`<input type=${type} autocomplete="off" ...${shared} ...${text} />`;
}

function Select({ element, shared }) {
  return html`<select ...${shared}>
    <option value="">${element.placeholder?.text ?? "…"}</option>
    ${element.options?.map((option) => html`<option key=${option.value} value=${option.value}><${Plain} text=${option.text.text} /></option>`)}
  </select>`;
}

// What the fields hold when the modal opens: {block_id: {action_id: value or null}}.
export function initialValues(blocks) {
  const start = (element) => element.initial_value ?? element.initial_date ?? element.initial_option?.value ?? null;
  const inputs = blocks.filter(({ type }) => type === "input");
  return Object.fromEntries(inputs.map(({ block_id, element }) => [block_id, { [element.action_id]: start(element) }]));
}

// The sentences the page itself can say before it asks the app.
export function missing(blocks, values, t) {
  const errors = {};
  for (const { type, block_id, element, optional } of blocks) {
    if (type !== "input") continue;
    const value = values[block_id]?.[element.action_id] ?? "";
    if (!value.trim() && !optional) errors[block_id] = t.required;
    else if (value && element.min_length && value.length < element.min_length) errors[block_id] = t.tooShort(element.min_length);
  }
  return errors;
}
