// A modal that the app opened (views.open): its blocks, its fields, and the app's objections beside them.
import { html, useDesk, useState } from "./ui.js";
import { Blocks } from "./blocks.js";
import { Dialog } from "./dialog.js";
import { missing, useForm } from "./forms.js";
import { Icon } from "./icons.js";
import { Plain } from "./richtext.js";
import { reason } from "./strings.js";

// The focus goes to the first field that is wrong, once it is drawn as such.
const toFirstWrong = () => requestAnimationFrame(() => document.querySelector(".dialog .input.wrong :is(input, textarea, select, button)")?.focus());

export function Modal({ view }) {
  const { act, t } = useDesk();
  const form = useForm(view.blocks);
  const { values, setErrors } = form;
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    const gaps = missing(view.blocks, values, t);
    setErrors(gaps);
    setProblem("");
    if (Object.keys(gaps).length) toFirstWrong();
    if (busy || Object.keys(gaps).length) return;
    setBusy(true);
    const answer = await act.settleView(view, "submit", values);
    setBusy(false);
    if (answer.errors && Object.keys(answer.errors).length) {
      setErrors(answer.errors);
      toFirstWrong();
    } else if (!answer.ok) setProblem(t.actionFailed(reason(t, answer.error)));
  };
  const close = () => act.settleView(view, "close");
  const asks = view.submit || view.blocks.some(({ type }) => type === "input");
  const footer = html`
    ${problem && html`<span class="problem" role="alert"><${Icon} name="warn" />${problem}</span>`}
    <button type="button" class="button plain" onClick=${close}><${Plain} text=${view.close?.text ?? t.close} /></button>
    ${asks && html`<button type="submit" class="button primary" aria-busy=${busy}><${Plain} text=${view.submit?.text ?? t.submit} /></button>`}`;
  return html`<${Dialog} testid="modal" title=${view.title?.text} onClose=${close} onSubmit=${submit} footer=${footer}>
    <${Blocks} blocks=${view.blocks} place=${{ view_id: view.id }} form=${form} />
  <//>`;
}
