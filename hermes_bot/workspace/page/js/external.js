// Selects whose choices the app gives for what is typed (external data sources), one or several at a time.
import { classes, html, useDesk, useEffect, useRef, useState } from "./ui.js";
import { Icon } from "./icons.js";
import { Popover, moveFocus } from "./popover.js";
import { plain } from "./richtext.js";

const PAUSE_MS = 250;

export function External({ element, value, shared, onChange, onCommit, ask }) {
  const { t } = useDesk();
  const many = element.type === "multi_external_select";
  const [before, setBefore] = useState(null);
  const [known, setKnown] = useState(() => namesOf([element.initial_option, ...(element.initial_options ?? [])].filter(Boolean)));
  const button = useRef(null);
  const chosen = many ? value ?? [] : value ? [value] : [];
  const words = chosen.map((one) => known[one] ?? one).join(", ");
  const close = (now = chosen) => {
    setBefore(null);
    if (before.join("\n") !== now.join("\n")) onCommit(many ? now : now[0] ?? null);
  };
  const take = (option) => {
    setKnown((old) => ({ ...old, ...namesOf([option]) }));
    const next = chosen.includes(option.value) ? chosen.filter((one) => one !== option.value) : [...(many ? chosen : []), option.value];
    onChange(many ? next : next[0] ?? null);
    if (!many) close(next);
  };
  const { "aria-label": label, ...rest } = shared;
  return html`<span class="select"><button type="button" ref=${button} class=${classes("many", !words && "empty")} ...${rest} aria-haspopup="dialog"
      aria-expanded=${before !== null} aria-label=${label ? `${label}: ${words || t.nothingChosen}` : null}
      onClick=${() => (before === null ? setBefore(chosen) : close())}>${words || (element.placeholder?.text ?? t.choose)}</button><${Icon} name="chevron" /></span>
    ${before !== null && html`<${Popover} anchor=${button} role="dialog" name="ticks picker-of-options" label=${label ?? element.placeholder?.text ?? t.choose} onClose=${() => close()}>
      <${Search} element=${element} chosen=${chosen} ask=${ask} onTake=${take} />
    <//>`}`;
}

const namesOf = (options) => Object.fromEntries(options.map(({ value, text }) => [value, plain(text.text)]));

function Search({ element, chosen, ask, onTake }) {
  const { t } = useDesk();
  const [typed, setTyped] = useState("");
  const [options, setOptions] = useState(null);
  const enough = typed.length >= (element.min_query_length ?? 3);
  useEffect(() => {
    if (!enough) return undefined;
    let late = false;
    const asking = setTimeout(async () => {
      const answer = await ask(typed);
      if (!late) setOptions(answer.options ?? []);
    }, PAUSE_MS);
    return () => {
      late = true;
      clearTimeout(asking);
    };
  }, [typed, enough]);
  const shown = enough ? options : null;
  return html`<div class="picker" onKeyDown=${(event) => moveFocus(event, ".menu-item, input[type=search]")}>
    <input type="search" data-focus aria-label=${t.searchOptions} placeholder=${t.searchOptions} value=${typed} onInput=${({ target }) => setTyped(target.value)} />
    <div role="status" class="soft search-state">${shown === null ? t.typeMore : shown.length ? "" : t.noOptions}</div>
    ${(shown ?? []).map((option) => html`<button type="button" class="menu-item" key=${option.value} aria-pressed=${chosen.includes(option.value)}
      onClick=${() => onTake(option)}><span>${plain(option.text.text)}</span>${chosen.includes(option.value) && html`<${Icon} name="check" />`}</button>`)}
  </div>`;
}
