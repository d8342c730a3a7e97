// The bot's own tab: what it shows this person, or that it shows nothing yet.
import { html, useDesk } from "./ui.js";
import { Blocks } from "./blocks.js";
import { useForm } from "./forms.js";
import { Icon } from "./icons.js";

export function Home({ app }) {
  const { state, t } = useDesk();
  const view = state.homes[state.me];
  return html`<div class="home" id="panel-home" role="tabpanel" aria-labelledby="tab-home" tabindex="0" data-testid="home">
    <h2 class="unseen">${t.tabs.home}</h2>
    ${view ? html`<${Shown} key=${view.id} view=${view} />` : html`<p class="nothing">${t.homeEmpty(app.name)}</p>`}
  </div>`;
}

function Shown({ view }) {
  const form = useForm(view.blocks);
  return html`<div class="blocks home-blocks"><${Blocks} blocks=${view.blocks} place=${{ view_id: view.id }} form=${form} /></div>`;
}

const TABS = ["home", "messages"];

// The arrow keys go from tab to tab, as tabs do everywhere.
export function Tabs() {
  const { state, act, t } = useDesk();
  const onKeyDown = (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    const next = TABS[1 - TABS.indexOf(state.tab)];
    act.openTab(next);
    document.getElementById(`tab-${next}`).focus();
  };
  return html`<div class="tabs" role="tablist" onKeyDown=${onKeyDown}>
    ${TABS.map((tab) => html`<button type="button" role="tab" key=${tab} id="tab-${tab}" aria-selected=${state.tab === tab} tabindex=${state.tab === tab ? 0 : -1}
      onClick=${() => act.openTab(tab)}><${Icon} name=${tab === "home" ? "home" : "reply"} />${t.tabs[tab]}</button>`)}
  </div>`;
}
