// A modal window on the browser's own <dialog>: it traps the focus, dims the rest, and gives the focus back.
import { html, useDesk, useLayoutEffect, useRef } from "./ui.js";
import { Icon } from "./icons.js";
import { Plain } from "./richtext.js";

// onSubmit makes it a form; children is its body, footer its buttons.
export function Dialog({ title, testid, small, onClose, onSubmit, footer, children }) {
  const { t } = useDesk();
  const dialog = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current.showModal();
    dialog.current.querySelector("[data-focus], .dialog-body :is(input, textarea, select), .dialog-foot button")?.focus();
    // Once the dialog is gone: while it stands, nothing outside of it can have the focus.
    return () => queueMicrotask(() => before?.isConnected && before.focus());
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    onClose();
  };
  const submit = (event) => {
    event.preventDefault();
    onSubmit?.();
  };
  return html`<dialog ref=${dialog} class=${small ? "dialog small" : "dialog"} data-testid=${testid}
    aria-labelledby="dialog-title-${testid}" onCancel=${cancel} onClose=${onClose}>
    <form novalidate onSubmit=${submit}>
      <header class="dialog-head">
        <h2 id="dialog-title-${testid}"><${Plain} text=${title} /></h2>
        <button type="button" class="quiet" aria-label=${t.closeDialog} onClick=${onClose}><${Icon} name="close" /></button>
      </header>
      <div class="dialog-body">${children}</div>
      ${footer && html`<footer class="dialog-foot">${footer}</footer>`}
    </form>
  </dialog>`;
}
