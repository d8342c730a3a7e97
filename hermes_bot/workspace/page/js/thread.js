// The thread pane beside (on narrow screens: over) the conversation.
import { html, useDesk, useEffect } from "./ui.js";
import { Composer } from "./composer.js";
import { Icon } from "./icons.js";
import { MessageList } from "./list.js";
import { placeName } from "./people.js";
import { plain } from "./richtext.js";
import { Prompts, Work } from "./session.js";

export function Thread() {
  const { state, act, t } = useDesk();
  const channel = state.channels.find(({ id }) => id === state.channel);
  const title = plain(state.sessions[`${state.channel}/${state.thread}`]?.title);
  const opener = `thread-of-${state.thread}`;
  useEffect(() => () => document.activeElement === document.body && document.getElementById(opener)?.focus(), [opener]);
  return html`<aside class="thread" data-testid="thread-pane" aria-label=${t.thread}>
    <header class="head">
      <h2>${t.thread}</h2>
      <span class="about topic">${title || (channel && placeName(channel))}</span>
      <button type="button" class="quiet" aria-label=${t.closeThread} onClick=${act.closeThread}><${Icon} name="close" /></button>
    </header>
    <${MessageList} messages=${state.replies} place="${state.me}/${state.channel}/${state.thread}" label=${t.thread} inThread />
    <${Prompts} thread=${state.thread} messages=${state.replies} />
    <${Work} thread=${state.thread} />
    ${channel?.archived ? html`<p class="archived">${t.archived}</p>` : html`<${Composer} thread=${state.thread} />`}
  </aside>`;
}
