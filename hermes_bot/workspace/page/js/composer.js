// Where a person writes. Enter sends, Shift+Enter breaks the line, "@" offers names, "/" commands; files may be dropped here.
import { classes, html, useDesk, useLayoutEffect, useRef, useState } from "./ui.js";
import { Avatar } from "./avatar.js";
import { hasFiles, useDraft } from "./drafts.js";
import { emoji } from "./emoji.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";
import { personOf, placeName } from "./people.js";
import { EmojiPicker } from "./picker.js";
import { reason } from "./strings.js";
import { useSuggestions } from "./suggestions.js";
import { sizeOf } from "./time.js";
import { mayChange } from "./tools.js";

export function Composer({ thread = "", suggested }) {
  const { state, act, t } = useDesk();
  const area = useRef(null);
  const [caret, setCaret] = useState(0);
  const [broadcast, setBroadcast] = useState(false);
  const [over, setOver] = useState(false);
  const draft = useDraft(area, thread, suggested);
  const { text, write } = draft;
  const replaceText = (value, end) => {
    write(value);
    setCaret(end);
    area.current.focus();
  };
  const suggestions = useSuggestions({ text, caret, replaceText, thread });
  useLayoutEffect(() => fit(area.current), [text]);
  const send = () => draft.send({ broadcast });
  const onKeyDown = (event) => {
    if (event.isComposing || suggestions.onKeyDown(event)) return;
    if (event.key === "ArrowUp" && !text) return editLast(event, { state, act, thread });
    if ((event.ctrlKey || event.metaKey) && MARKS[event.key]) return wrap(event, MARKS[event.key], replaceText);
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  const takeFiles = (event, transfer) => {
    setOver(false);
    if (!hasFiles(transfer)) return;
    event.preventDefault();
    draft.attach([...transfer.files]);
  };
  const me = personOf(state, state.me);
  const channel = state.channels.find(({ id }) => id === state.channel);
  const label = thread ? t.composerThread : t.composer(channel ? placeName(channel) : "");
  return html`<form class=${classes("composer", over && "over")} style=${{ "--hue": me.hue }} onSubmit=${(event) => (event.preventDefault(), send())}
      onDragOver=${(event) => hasFiles(event.dataTransfer) && (event.preventDefault(), setOver(true))} onDragLeave=${() => setOver(false)}
      onDrop=${(event) => takeFiles(event, event.dataTransfer)}>
    ${suggestions.list}
    ${draft.problem && html`<p class="problem" role="alert"><${Icon} name="warn" />${t.notSent(reason(t, draft.problem))}</p>`}
    <div class="composer-box">
      <${Waiting} draft=${draft} />
      <${Avatar} person=${me} />
      <textarea ref=${area} rows="1" data-testid=${thread ? "thread-composer" : "composer"} aria-label=${label} placeholder=${label}
        value=${text} ...${suggestions.aria} onKeyDown=${onKeyDown} onPaste=${(event) => takeFiles(event, event.clipboardData)}
        onInput=${({ target }) => (write(target.value), setCaret(target.selectionStart))}></textarea>
      <${Extras} draft=${draft} thread=${thread} area=${area} />
      <button type="submit" class="send" aria-label=${t.send} title=${t.send} aria-busy=${draft.busy} disabled=${!text.trim() && !draft.files.length}><${Icon} name="send" /></button>
    </div>
    <div class="composer-foot">
      ${thread && channel?.kind === "channel" && html`<label class="tick broadcast"><input type="checkbox" checked=${broadcast}
        onChange=${({ target }) => setBroadcast(target.checked)} /><span>${t.broadcast(placeName(channel))}</span></label>`}
      <p class="keys">${t.keys}</p>
    </div>
  </form>`;
}

// Files that go out with the next message.
function Waiting({ draft }) {
  const { t, locale } = useDesk();
  if (!draft.files.length) return null;
  return html`<ul class="waiting" aria-label=${t.filesToSend}>
    ${draft.files.map((file, index) => html`<li key=${`${index}-${file.name}`} class="file"><${Icon} name="file" />
      <span><b>${file.name}</b><small>${sizeOf(file.size, locale)}</small></span>
      <button type="button" class="quiet" aria-label=${t.dropFile(file.name)} title=${t.dropFile(file.name)} onClick=${() => draft.drop(file)}><${Icon} name="close" /></button>
    </li>`)}
  </ul>`;
}

// Files, emoji, and what the apps offer to start from anywhere.
function Extras({ draft, thread, area }) {
  const { state, act, t } = useDesk();
  const [picking, setPicking] = useState(false);
  const input = useRef(null);
  const button = useRef(null);
  const shortcuts = thread ? [] : state.bots.flatMap((bot) => bot.shortcuts.filter((one) => !one.of_message).map((one) => ({ ...one, bot: bot.name })));
  const items = shortcuts.map((one) => ({ key: one.callback_id, icon: "spark", words: one.name, note: one.bot, take: () => act.shortcut(one.callback_id) }));
  const insert = (name) => {
    area.current.setRangeText(emoji(name), area.current.selectionStart, area.current.selectionEnd, "end");
    draft.write(area.current.value);
    area.current.focus();
  };
  return html`
    ${items.length > 0 && html`<${Menu} label=${t.shortcuts} icon="plus" items=${items} />`}
    <input ref=${input} type="file" multiple hidden tabindex="-1" aria-hidden="true" data-testid=${thread ? "thread-file" : "file"}
      onChange=${({ target }) => (draft.attach([...target.files]), (target.value = ""))} />
    <button type="button" class="quiet" title=${t.attach} aria-label=${t.attach} onClick=${() => input.current.click()}><${Icon} name="clip" /></button>
    <button ref=${button} type="button" class="quiet" title=${t.emojiPicker} aria-label=${t.emojiPicker} aria-haspopup="dialog" aria-expanded=${picking}
      onClick=${() => setPicking(!picking)}><${Icon} name="smile" /></button>
    ${picking && html`<${EmojiPicker} anchor=${button} align="end" onTake=${insert} onClose=${() => setPicking(false)} />`}`;
}

// Arrow up in an empty composer changes what this person said last, as far as it is in sight.
function editLast(event, { state, act, thread }) {
  const own = ((thread ? state.replies : state.room) ?? []).findLast((message) => mayChange(message, state));
  if (!own) return;
  event.preventDefault();
  act.startEdit(own.ts);
}

const MARKS = { b: "*", i: "_" };

// Ctrl+B and Ctrl+I put mrkdwn's marks around what is selected.
function wrap(event, mark, replaceText) {
  const { value, selectionStart: start, selectionEnd: end } = event.target;
  event.preventDefault();
  event.target.setRangeText(mark + value.slice(start, end) + mark, start, end, "end");
  if (start === end) event.target.setSelectionRange(start + 1, start + 1);
  replaceText(event.target.value, event.target.selectionStart);
}

function fit(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
