// The question a button may ask before it acts (Block Kit's confirmation dialog).
import { html, useDesk } from "./ui.js";
import { Dialog } from "./dialog.js";
import { Plain, TextObject } from "./richtext.js";

export function Confirm({ confirm, onYes, onNo }) {
  const { t } = useDesk();
  const style = confirm.style === "danger" ? "danger" : "primary";
  const footer = html`
    <button type="button" class="button plain" onClick=${onNo}><${Plain} text=${confirm.deny?.text ?? t.cancel} /></button>
    <button type="submit" class="button ${style}"><${Plain} text=${confirm.confirm?.text ?? t.confirm} /></button>`;
  return html`<${Dialog} testid="confirm" small title=${confirm.title?.text ?? t.confirmTitle} onClose=${onNo}
    onSubmit=${onYes} footer=${footer}>
    <div class="rich"><${TextObject} value=${confirm.text} /></div>
  <//>`;
}
