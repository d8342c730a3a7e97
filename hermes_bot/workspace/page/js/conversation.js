// The open conversation: its head, its messages, and the place to write.
import { html, useDesk, useRef, useState } from "./ui.js";
import { Avatar } from "./avatar.js";
import { Composer } from "./composer.js";
import { Home, Tabs } from "./home.js";
import { Icon } from "./icons.js";
import { MessageList } from "./list.js";
import { personOf, tagOf } from "./people.js";
import { Popover } from "./popover.js";
import { Prompts, Work } from "./session.js";
import { appIn } from "./store.js";
import { hints, topicIn } from "./strings.js";

export function Conversation() {
  const { state, t } = useDesk();
  const [suggested, setSuggested] = useState(null);
  const channel = state.channels.find(({ id }) => id === state.channel);
  if (!channel) return html`<main class="conversation"><p class="nothing">${t.nothingHere}</p></main>`;
  const empty = state.room?.length === 0;
  const app = appIn(channel, state.bots);
  const tabs = app?.home;
  if (tabs && state.tab === "home") {
    return html`<main class="conversation" aria-labelledby="place"><${Head} channel=${channel} /><${Tabs} /><${Home} app=${app} /></main>`;
  }
  return html`<main class="conversation" aria-labelledby="place">
    <${Head} channel=${channel} />
    ${tabs && html`<${Tabs} />`}
    <${MessageList} messages=${state.room} place="${state.me}/${state.channel}" label=${t.messages} newFrom=${state.newFrom}>
      ${empty && html`<${Hint} channel=${channel} onTake=${(text) => setSuggested({ text })} />`}
    <//>
    <${Prompts} messages=${state.room} />
    <${Work} />
    ${channel.archived ? html`<p class="archived">${t.archived}</p>` : html`<${Composer} suggested=${suggested} />`}
  </main>`;
}

function Head({ channel }) {
  const { state, act, t, language } = useDesk();
  const icon = channel.private ? "lock" : "hash";
  return html`<header class="head">
    <button type="button" class="quiet only-narrow" aria-label=${t.openSidebar} aria-expanded=${state.sidebarOpen}
      onClick=${() => act.toggleSidebar(true)} data-testid="open-sidebar"><${Icon} name="menu" /></button>
    <h1 id="place">${channel.kind === "channel" && html`<${Icon} name=${icon} />`}${channel.name}</h1>
    ${channel.kind !== "dm" && html`<${Members} channel=${channel} />`}
    ${channel.shared && html`<span class="about shared" title=${t.sharedTitle}>${t.shared}</span>`}
    ${channel.topic && html`<span class="about topic" title=${topicIn(language, channel.topic)}>${topicIn(language, channel.topic)}</span>`}
  </header>`;
}

// Who is here, with what they are.
function Members({ channel }) {
  const { state, t } = useDesk();
  const [open, setOpen] = useState(false);
  const button = useRef(null);
  const people = channel.members.map((id) => personOf(state, id));
  return html`<button type="button" ref=${button} class="about as-text" aria-haspopup="dialog" aria-expanded=${open} onClick=${() => setOpen(!open)}>${t.members(people.length)}</button>
    ${open && html`<${Popover} anchor=${button} role="dialog" name="people-list" label=${t.membersTitle} onClose=${() => setOpen(false)}>
      <ul tabindex="0" data-focus aria-label=${t.membersTitle}>${people.map((person) => html`<li key=${person.id}><${Avatar} person=${person} /><span>${person.name}</span><small>${tagOf(person, t)}</small></li>`)}</ul>
    <//>`}`;
}

// What a newcomer may try here; a click writes it into the composer.
function Hint({ channel, onTake }) {
  const { state, t } = useDesk();
  const me = personOf(state, state.me);
  const heard = channel.members.includes(state.bot.id) || channel.kind === "dm";
  const asked = state.sessions[`${channel.id}/`]?.prompts?.length; // what the app itself offers is enough
  const offers = heard && !asked ? hints[state.me] ?? [] : [];
  return html`<section class="hint-card" data-testid="hint">
    <h2>${t.nothingHere}</h2>
    <p>${heard ? t.hintLead[me.role] ?? t.hintLead.member : t.hintUnheard(state.bot.name)}</p>
    ${offers.length > 0 && html`<p class="offers">
      ${offers.map((text) => html`<button type="button" key=${text} class="offer" onClick=${() => onTake(text)}>${text}</button>`)}
    </p>
    <p class="soft">${t.hintNext}</p>`}
  </section>`;
}
