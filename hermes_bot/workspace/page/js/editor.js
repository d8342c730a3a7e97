// A message while its author changes it. Enter saves, Escape leaves it as it was.
import { html, useDesk, useLayoutEffect, useRef, useState } from "./ui.js";
import { Icon } from "./icons.js";
import { reason } from "./strings.js";
import { typedOf } from "./typed.js";

export function Editor({ message }) {
  const { state, act, t } = useDesk();
  const before = typedOf(message.text, state);
  const [text, setText] = useState(before);
  const [problem, setProblem] = useState("");
  const area = useRef(null);
  useLayoutEffect(() => {
    area.current.focus();
    area.current.setSelectionRange(before.length, before.length);
  }, []);
  useLayoutEffect(() => {
    area.current.style.height = "auto";
    area.current.style.height = `${area.current.scrollHeight}px`;
  }, [text]);
  const save = async () => {
    const said = text.trim();
    if (!said || said === before) return act.stopEdit();
    const answer = await act.edit(message.ts, said);
    if (answer.ok) act.stopEdit();
    else setProblem(t.actionFailed(reason(t, answer.error)));
  };
  const onKeyDown = (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") act.stopEdit();
    else if (event.key === "Enter" && !event.shiftKey) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<form class="editor" onSubmit=${(event) => (event.preventDefault(), save())}>
    <textarea ref=${area} rows="1" aria-label=${t.editLabel} data-testid="editor" value=${text}
      onInput=${({ target }) => setText(target.value)} onKeyDown=${onKeyDown}></textarea>
    ${problem && html`<p class="problem" role="alert"><${Icon} name="warn" />${problem}</p>`}
    <p class="editor-foot">
      <button type="button" class="button plain small" onClick=${() => act.stopEdit()}>${t.cancel}</button>
      <button type="submit" class="button primary small">${t.save}</button>
    </p>
  </form>`;
}
