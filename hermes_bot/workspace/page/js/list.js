// A list of messages that stays at its newest end while the reader is there, with days and the unread line marked.
import { html, useDesk, useLayoutEffect, useRef, useState } from "./ui.js";
import { Icon } from "./icons.js";
import { Message } from "./message.js";
import { continues } from "./messages.js";
import { dayKey, dayName } from "./time.js";

const NEAR_PX = 80;

export function MessageList({ messages, place, label, inThread, newFrom, children }) {
  const { state, t } = useDesk();
  const box = useRef(null);
  const [away, setAway] = useState(false);
  const stay = useRef(true);
  const toEnd = () => {
    box.current.scrollTop = box.current.scrollHeight;
  };
  const onScroll = ({ target }) => {
    stay.current = target.scrollHeight - target.scrollTop - target.clientHeight < NEAR_PX;
    setAway(!stay.current);
  };
  useLayoutEffect(() => {
    stay.current = true;
    setAway(false);
  }, [place]);
  const { target } = state;
  const aimed = target && messages?.some(({ ts }) => ts === target);
  useLayoutEffect(() => {
    if (stay.current) toEnd();
  }, [place, messages]);
  useLayoutEffect(() => {
    if (!aimed) return;
    stay.current = false;
    box.current.querySelector(`[data-ts="${target}"]`).scrollIntoView({ block: "center" });
  }, [place, target, aimed]);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => stay.current && toEnd());
    watch.observe(box.current);
    watch.observe(box.current.querySelector("ol")); // a picture that came late, an answer that grows
    return () => watch.disconnect();
  }, []);
  return html`<div class="list-frame">
    ${!inThread && html`<h2 class="unseen">${label}</h2>`}
    <div class="list" ref=${box} onScroll=${onScroll} onKeyDown=${walk} tabindex="0" role="region" aria-label=${label} aria-busy=${messages === null}>
      ${children}
      <ol>${rows(messages ?? [], inThread, newFrom)}</ol>
    </div>
    ${away && html`<button type="button" class="to-end" onClick=${toEnd}><${Icon} name="down" />${t.toNewest}</button>`}
  </div>`;
}

// The arrow keys walk from message to message; in from the list they begin at the newest.
function walk(event) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const list = event.currentTarget;
  const from = document.activeElement;
  if (!step || event.altKey || (from !== list && !from.matches(".message"))) return;
  const all = [...list.querySelectorAll(".message")];
  const at = from === list ? all.length - (step < 0 ? 0 : 1) : all.indexOf(from);
  const to = all[Math.max(0, Math.min(at + step, all.length - 1))];
  if (!to) return;
  event.preventDefault();
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "nearest" });
}

function rows(messages, inThread, newFrom) {
  return messages.flatMap((message, index) => {
    const above = messages[index - 1];
    const newDay = !above || dayKey(above.ts) !== dayKey(message.ts);
    const isNew = message.ts === newFrom;
    return [
      newDay && !inThread && html`<${Day} key="day-${message.ts}" ts=${message.ts} />`,
      isNew && html`<${NewLine} key="new" />`,
      html`<${Message} key=${message.ts} message=${message} inThread=${inThread}
        joined=${!newDay && !isNew && continues(message, above)} />`,
    ];
  });
}

function Day({ ts }) {
  const { t, locale } = useDesk();
  return html`<li class="day"><span>${dayName(ts, locale, t)}</span></li>`;
}

function NewLine() {
  const { t } = useDesk();
  return html`<li class="new-line"><span>${t.newLine}</span></li>`;
}
