// A panel in the browser's top layer, beside what opened it. Escape and a press elsewhere shut it; the focus goes back.
import { html, useLayoutEffect, useRef } from "./ui.js";

const GAP_PX = 6;
const EDGE_PX = 8;

// anchor is a ref to what opened it; align "end" puts the right edges together.
export function Popover({ anchor, align, onClose, role, label, name, testid, children }) {
  const panel = useRef(null);
  useLayoutEffect(() => {
    const box = panel.current;
    const opener = anchor.current;
    const place = () => putBeside(box, opener, align);
    const pressed = ({ target }) => !box.contains(target) && !opener.contains(target) && onClose();
    box.showPopover();
    place();
    (box.querySelector("[data-focus]") ?? box.querySelector("input, button, [tabindex]"))?.focus({ preventScroll: true });
    document.addEventListener("pointerdown", pressed, true);
    window.addEventListener("resize", place);
    document.addEventListener("scroll", place, true);
    return () => {
      document.removeEventListener("pointerdown", pressed, true);
      window.removeEventListener("resize", place);
      document.removeEventListener("scroll", place, true);
      if (box.contains(document.activeElement)) opener.focus({ preventScroll: true });
    };
  }, []);
  const onKeyDown = (event) => {
    if (event.key !== "Escape" && event.key !== "Tab") return;
    if (event.key === "Tab" && role !== "menu") return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  const onFocusOut = ({ relatedTarget }) => {
    if (relatedTarget && !panel.current?.contains(relatedTarget) && !anchor.current?.contains(relatedTarget)) onClose();
  };
  return html`<div ref=${panel} popover="manual" class="popover ${name ?? ""}" role=${role} aria-label=${label} data-testid=${testid}
    onKeyDown=${onKeyDown} onFocusOut=${onFocusOut}>${children}</div>`;
}

function putBeside(box, opener, align) {
  const at = opener.getBoundingClientRect();
  const below = innerHeight - at.bottom - GAP_PX - EDGE_PX;
  const above = at.top - GAP_PX - EDGE_PX;
  box.style.maxHeight = `${Math.max(below, above, 120)}px`;
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = align === "end" ? at.right - width : at.left;
  box.style.left = `${Math.max(EDGE_PX, Math.min(left, innerWidth - width - EDGE_PX))}px`;
  const isBelow = below >= height || below >= above;
  box.style.top = `${isBelow ? at.bottom + GAP_PX : Math.max(EDGE_PX, at.top - GAP_PX - height)}px`;
}

// Moves the focus among the panel's items with the arrow keys, Home and End; columns > 1 makes it a grid.
export function moveFocus(event, selector, columns = 1) {
  const items = [...event.currentTarget.querySelectorAll(selector)];
  const at = items.indexOf(document.activeElement);
  const last = items.length - 1;
  const steps = columns > 1
    ? { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns, ArrowUp: at - columns }
    : { ArrowDown: at < last ? at + 1 : 0, ArrowUp: at > 0 ? at - 1 : last };
  const to = { ...steps, Home: 0, End: last }[event.key];
  if (to === undefined || !items.length) return;
  event.preventDefault();
  items[Math.max(0, Math.min(to, last))].focus();
}
