// The interactive elements of Block Kit in a message or a view, and what a press or a choice does.
import { html, useDesk, useState } from "./ui.js";
import { Confirm } from "./confirm.js";
import { Field } from "./fields.js";
import { withValue } from "./forms.js";
import { Icon } from "./icons.js";
import { ImageTile } from "./images.js";
import { Menu } from "./menu.js";
import { plain } from "./richtext.js";
import { reason } from "./strings.js";

// label names an element that has no words of its own.
export function Element({ element, block, place, form, label }) {
  if (element.type === "image") return html`<${ImageTile} image=${element} />`;
  const Drawn = { button: Button, overflow: Overflow, feedback_buttons: Feedback, icon_button: IconButton }[element.type] ?? ActionField;
  return html`<${Drawn} element=${element} block=${block} place=${place} form=${form} label=${label} />`;
}

// {busy, start, asides}: start(value) sends the deed, after the element's own question; asides show what is asked or went wrong.
export function useDeed({ place, element, block, form }) {
  const { act, t } = useDesk();
  const [busy, setBusy] = useState(false);
  const [asked, setAsked] = useState(null);
  const [problem, setProblem] = useState("");
  const perform = async (value) => {
    setAsked(null);
    if (busy) return false;
    setBusy(true);
    setProblem("");
    const state = value === undefined ? form.values : withValue(form.values, block.block_id, element.action_id, value);
    const answer = await act.click(place, { action_id: element.action_id, block_id: block.block_id, value, state });
    setBusy(false);
    if (!answer.ok) setProblem(t.actionFailed(reason(t, answer.error)));
    return answer.ok;
  };
  const start = (value, undo) => (element.confirm ? setAsked({ value, undo }) : perform(value));
  const refuse = () => {
    setAsked(null);
    asked.undo?.();
  };
  const asides = html`
    ${asked && html`<${Confirm} confirm=${element.confirm} onYes=${() => perform(asked.value)} onNo=${refuse} />`}
    ${problem && html`<span class="problem" role="alert"><${Icon} name="warn" />${problem}</span>`}`;
  return { busy, start, asides };
}

function Button({ element, block, place, form }) {
  const deed = useDeed({ place, element, block, form });
  const style = element.style === "primary" || element.style === "danger" ? element.style : "plain";
  const words = plain(element.text?.text);
  const press = () => deed.start(undefined);
  const link = /^https?:/i.test(element.url ?? "") ? element.url : "";
  return html`<span class="button-place">
    ${link
      ? html`<a class="button ${style}" href=${link} target="_blank" rel="noopener noreferrer" onClick=${press}>${words}<${Icon} name="out" /></a>`
      : html`<button type="button" class="button ${style}" aria-busy=${deed.busy} aria-label=${element.accessibility_label} onClick=${press}>${words}</button>`}
    ${deed.asides}
  </span>`;
}

function Overflow({ element, block, place, form, label }) {
  const { t } = useDesk();
  const deed = useDeed({ place, element, block, form });
  const items = element.options.map(({ value, text, description, url }) => ({
    key: value,
    words: plain(text.text),
    note: plain(description?.text),
    href: /^https?:/i.test(url ?? "") ? url : "",
    take: () => deed.start(value),
  }));
  return html`<span class="button-place"><${Menu} label=${label || t.more} look="button plain square" items=${items} busy=${deed.busy} />${deed.asides}</span>`;
}

// A field that tells the app at once. What was chosen before a refused question stands again.
function ActionField({ element, block, place, form, label }) {
  const { act } = useDesk();
  const deed = useDeed({ place, element, block, form });
  const before = form.values[block.block_id]?.[element.action_id] ?? null;
  const keep = (value) => form.change(block.block_id, element.action_id, value);
  return html`<span class="field-place" aria-busy=${deed.busy}>
    <${Field} element=${element} value=${before} naming=${{ "aria-label": plain(element.placeholder?.text) || label || element.action_id }}
      ask=${(typed) => act.suggest(place, element.action_id, typed)} onChange=${keep} onCommit=${(value) => deed.start(value === "" ? null : value, () => keep(before))} />
    ${deed.asides}
  </span>`;
}

// Two answers to "was this good?"; the one that was given stays pressed.
function Feedback({ element, block, place, form }) {
  const { t } = useDesk();
  const deed = useDeed({ place, element, block, form });
  const [given, setGiven] = useState("");
  const press = async (button) => (await deed.start(button.value)) && setGiven(button.value);
  const one = (button, icon, fallback) => html`<button type="button" class="quiet feedback" aria-pressed=${given === button.value} aria-busy=${deed.busy}
    title=${plain(button.text?.text) || fallback} aria-label=${button.accessibility_label ?? (plain(button.text?.text) || fallback)} onClick=${() => press(button)}><${Icon} name=${icon} /></button>`;
  return html`<span class="button-place">
    ${one(element.positive_button, "good", t.good)}${one(element.negative_button, "bad", t.bad)}${deed.asides}
  </span>`;
}

function IconButton({ element, block, place, form }) {
  const deed = useDeed({ place, element, block, form });
  const words = plain(element.text?.text);
  return html`<span class="button-place">
    <button type="button" class="quiet" title=${words} aria-label=${element.accessibility_label ?? words} aria-busy=${deed.busy}
      onClick=${() => deed.start(undefined)}><${Icon} name="trash" /></button>${deed.asides}
  </span>`;
}
