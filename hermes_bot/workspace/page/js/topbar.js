// The bar that never goes away: the workspace's name, whose seat you take, and the language.
import { classes, html, useDesk, useEffect, useRef } from "./ui.js";
import { Wing } from "./icons.js";
import { Avatar } from "./avatar.js";
import { personOf, shortName, tagOf } from "./people.js";
import { languages } from "./strings.js";
import { loudOf, unreadOf } from "./unread.js";

export function Topbar() {
  const { state, act, t, language } = useDesk();
  const me = personOf(state, state.me);
  return html`<header class="topbar" style=${{ "--hue": me.hue }}>
    <p class="brand" title=${t.localTitle}><${Wing} /><span class="brand-name">${t.product}</span><span class="local">${t.local}</span></p>
    <${PersonSwitch} />
    <div class="languages" role="group" aria-label=${t.language}>
      ${Object.entries(languages).map(([code, name]) => html`<button type="button" key=${code} lang=${code} aria-pressed=${code === language}
        data-testid="language-${code}" onClick=${() => act.setLanguage(code)}>${name}</button>`)}
    </div>
  </header>`;
}

// One seat is taken at a time: a radio group, so that the arrow keys move from seat to seat.
function PersonSwitch() {
  const { state, act, t } = useDesk();
  const take = (id) => act.go({ user: id, channel: state.channel, thread: state.thread });
  const onKeyDown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const count = state.people.length;
    const at = state.people.findIndex(({ id }) => id === state.me);
    const next = state.people[(at + step + count) % count];
    take(next.id);
    event.currentTarget.querySelector(`[data-testid="person-${next.id}"]`)?.focus();
  };
  return html`<div class="seats" role="radiogroup" aria-label=${t.switchPerson} data-testid="person-switch" onKeyDown=${onKeyDown}>
    ${state.people.map(({ id }) => html`<${Seat} key=${id} person=${personOf(state, id)} onTake=${() => take(id)} />`)}
  </div>`;
}

function Seat({ person, onTake }) {
  const { state, t } = useDesk();
  const taken = person.id === state.me;
  const button = useRef(null);
  useEffect(() => {
    if (taken) button.current.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [taken]);
  const count = taken ? 0 : unreadOf(state.unread, person.id);
  const loud = taken ? 0 : loudOf(state.unread, person.id);
  const tag = tagOf(person, t) || t.roles[person.role];
  const label = `${person.name}, ${tag}${count ? `, ${t.unread(count)}` : ""}`;
  return html`<button ref=${button} type="button" role="radio" aria-checked=${taken} tabindex=${taken ? 0 : -1} class=${classes("seat", taken && "taken")}
    style=${{ "--hue": person.hue }} data-testid="person-${person.id}" aria-label=${label} title=${label} onClick=${onTake}>
    <${Avatar} person=${person} />
    <span class="seat-words">
      <b>${taken ? person.name : shortName(person.name)}</b>
      <small class="role">${taken ? `${t.you} · ` : ""}${tag}</small>
    </span>
    ${loud > 0 ? html`<span class="count">${loud}</span>` : count > 0 && html`<span class="dot"></span>`}
  </button>`;
}
