// The fields of Block Kit: what a person types or chooses, each on the browser's own control where there is one.
import { classes, html, useDesk, useId, useRef, useState } from "./ui.js";
import { External } from "./external.js";
import { FileField } from "./filefield.js";
import { Icon } from "./icons.js";
import { placeName } from "./people.js";
import { Popover, moveFocus } from "./popover.js";
import { TextObject, plain } from "./richtext.js";

const TYPED = { plain_text_input: "text", number_input: "number", email_text_input: "email", url_text_input: "url", rich_text_input: "text" };
const PICKED = { datepicker: "date", timepicker: "time" };
const ONE = new Set(["static_select", "users_select", "conversations_select", "channels_select"]);
const MANY = new Set(["multi_static_select", "multi_users_select", "multi_conversations_select", "multi_channels_select"]);

const EXTERNAL = new Set(["external_select", "multi_external_select"]);

export const isGroup = ({ type }) => type === "checkboxes" || type === "radio_buttons" || MANY.has(type);

// onChange keeps a value; onCommit says that it is meant; ask(typed) gives the app's options of an external select. naming is {id} or {"aria-label"}, and what describes the field.
export function Field({ element, value, naming, onChange, onCommit, ask }) {
  const { t } = useDesk();
  const shared = { ...naming, name: element.action_id, "data-focus": element.focus_on_load ? "" : null };
  const both = (next) => {
    onChange(next);
    onCommit(next);
  };
  const props = { element, value, shared, onChange, onCommit, both };
  if (TYPED[element.type]) return html`<${Typed} ...${props} />`;
  if (PICKED[element.type]) return html`<${Picked} ...${props} />`;
  if (element.type === "datetimepicker") return html`<${Moment} ...${props} />`;
  if (ONE.has(element.type)) return html`<${One} ...${props} />`;
  if (MANY.has(element.type)) return html`<${Many} ...${props} />`;
  if (EXTERNAL.has(element.type)) return html`<${External} ...${props} ask=${ask} />`;
  if (element.type === "file_input") return html`<${FileField} ...${props} />`;
  if (isGroup(element)) return html`<${Ticks} ...${props} />`;
  return html`<p class="not-drawn">${t.notDrawn(element.type)}</p>`;
}

function Typed({ element, value, shared, onChange, onCommit }) {
  const each = element.dispatch_action_config?.trigger_actions_on?.includes("on_character_entered");
  const whole = element.type === "number_input" && element.is_decimal_allowed === false;
  const text = { ...shared, value: value ?? "", placeholder: element.placeholder?.text ?? "", maxlength: element.max_length ?? null };
  const onInput = ({ target }) => {
    onChange(target.value);
    if (each) onCommit(target.value);
  };
  const onKeyDown = (event) => event.key === "Enter" && !event.isComposing && onCommit(event.target.value);
  if (element.multiline || element.type === "rich_text_input") return html`<textarea rows="4" ...${text} onInput=${onInput}></textarea>`;
  return html`<input type=${TYPED[element.type]} autocomplete="off" ...${text} min=${element.min_value ?? null} max=${element.max_value ?? null}
    step=${whole ? 1 : element.type === "number_input" ? "any" : null} onInput=${onInput} onKeyDown=${onKeyDown} />`;
}

// A year that is still being typed (0002) is no date yet.
function Picked({ element, value, shared, onChange, both }) {
  const onInput = ({ target }) => (/^0/.test(target.value) && element.type === "datepicker" ? onChange(target.value) : both(target.value));
  return html`<input type=${PICKED[element.type]} max=${element.type === "datepicker" ? "9999-12-31" : null} ...${shared} value=${value ?? ""} onInput=${onInput} />`;
}

// Slack's value is seconds since 1970; the browser's control speaks of the local clock.
function Moment({ value, shared, both }) {
  const local = value ? new Date(Number(value) * 1000 - new Date(Number(value) * 1000).getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : "";
  const onInput = ({ target }) => both(target.value ? String(Math.floor(new Date(target.value).getTime() / 1000)) : null);
  return html`<input type="datetime-local" max="9999-12-31T23:59" ...${shared} value=${local} onInput=${onInput} />`;
}

function One({ element, value, shared, both }) {
  const { t } = useDesk();
  const options = useOptions(element);
  const choice = ({ value: one, words }) => html`<option key=${one} value=${one}>${words}</option>`;
  return html`<span class="select"><select ...${shared} value=${value ?? ""} onChange=${({ target }) => both(target.value)}>
    <option value="">${element.placeholder?.text ?? t.choose}</option>
    ${options.map(({ label, list }) => (label ? html`<optgroup key=${label} label=${label}>${list.map(choice)}</optgroup>` : list.map(choice)))}
  </select><${Icon} name="chevron" /></span>`;
}

// A button that shows what is chosen and opens a list to tick. In a message it is meant once the list is shut.
function Many({ element, value, shared, onChange, onCommit }) {
  const { t } = useDesk();
  const [before, setBefore] = useState(null);
  const button = useRef(null);
  const chosen = value ?? [];
  const options = useOptions(element).flatMap(({ list }) => list);
  const words = options.filter((one) => chosen.includes(one.value)).map((one) => one.words).join(", ");
  const close = () => {
    setBefore(null);
    if (before.join("\n") !== chosen.join("\n")) onCommit(chosen);
  };
  const full = element.max_selected_items && chosen.length >= element.max_selected_items;
  const toggle = (one) => onChange(chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]);
  const { "aria-label": label, ...rest } = shared;
  return html`<span class="select"><button type="button" ref=${button} class=${classes("many", !words && "empty")} ...${rest} aria-haspopup="dialog" aria-expanded=${before !== null}
      aria-label=${label ? `${label}: ${words || t.nothingChosen}` : null} onClick=${() => (before === null ? setBefore(chosen) : close())}>${words || (element.placeholder?.text ?? t.choose)}</button><${Icon} name="chevron" /></span>
    ${before !== null && html`<${Popover} anchor=${button} role="dialog" name="ticks" label=${label ?? element.placeholder?.text ?? t.choose} onClose=${close}>
      <div onKeyDown=${(event) => moveFocus(event, "input")}>
        ${options.map((one) => html`<label class="tick" key=${one.value}><input type="checkbox" checked=${chosen.includes(one.value)}
          disabled=${full && !chosen.includes(one.value)} onChange=${() => toggle(one.value)} /><span>${one.words}</span></label>`)}
      </div>
    <//>`}`;
}

// Checkboxes and radio buttons, all in sight.
function Ticks({ element, value, shared, both }) {
  const many = element.type === "checkboxes";
  const { id, "aria-label": label, name, "data-focus": focus, ...rest } = shared;
  const toggle = (one) => (value ?? []).includes(one) ? value.filter((other) => other !== one) : [...(value ?? []), one];
  const own = useId();
  return html`<div class="ticks" role=${many ? "group" : "radiogroup"} aria-label=${label} ...${rest}>
    ${element.options.map((option, index) => html`<label class="tick" key=${option.value}>
      <input type=${many ? "checkbox" : "radio"} id=${index ? null : id} name=${`${name}-${own}`} data-focus=${index ? null : focus}
        checked=${many ? (value ?? []).includes(option.value) : value === option.value}
        onChange=${() => both(many ? toggle(option.value) : option.value)} />
      <span><${TextObject} value=${option.text} />${option.description && html`<small><${TextObject} value=${option.description} /></small>`}</span>
    </label>`)}
  </div>`;
}

// The choices in groups: [{label, list: [{value, words}]}].
function useOptions(element) {
  const { state } = useDesk();
  const kind = element.type.replace("multi_", "");
  if (kind === "users_select") return [{ list: [state.bot, ...state.people].map(({ id, name }) => ({ value: id, words: name })) }];
  if (kind !== "static_select") {
    const shown = state.channels.filter((one) => kind === "conversations_select" || one.kind === "channel");
    return [{ list: shown.map((one) => ({ value: one.id, words: placeName(one) })) }];
  }
  const read = (options) => (options ?? []).map(({ value, text }) => ({ value, words: plain(text.text) }));
  return element.option_groups?.map(({ label, options }) => ({ label: plain(label.text), list: read(options) })) ?? [{ list: read(element.options) }];
}
