// Where a person writes. Enter sends, Shift+Enter breaks the line, "@" offers names; a draft waits in its own place.
import { html, useDesk, useEffect, useLayoutEffect, useRef, useState } from "./ui.js";
import { Icon } from "./icons.js";
import { Avatar } from "./avatar.js";
import { emoji } from "./emoji.js";
import { personOf, placeName } from "./people.js";
import { EmojiPicker } from "./picker.js";
import { reason } from "./strings.js";
import { mayChange } from "./tools.js";

const drafts = new Map();
const AT_NAME = /(^|\s)@([\p{L}]*)$/u;

export function Composer({ thread = "", suggested }) {
  const { state, act, t } = useDesk();
  const area = useRef(null);
  const [caret, setCaret] = useState(0);
  const { text, write, send, problem } = useDraft(area, thread, suggested);
  const names = useMentions(text, caret, (value, end) => {
    write(value);
    setCaret(end);
    area.current.focus();
  });
  useLayoutEffect(() => fit(area.current), [text]);
  const onKeyDown = (event) => {
    if (event.isComposing || names.onKeyDown(event)) return;
    if (event.key === "ArrowUp" && !text) return editLast(event, { state, act, thread });
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  const me = personOf(state, state.me);
  const channel = state.channels.find(({ id }) => id === state.channel);
  const label = thread ? t.composerThread : t.composer(channel ? placeName(channel) : "");
  return html`<form class="composer" style=${{ "--hue": me.hue }} onSubmit=${(event) => (event.preventDefault(), send())}>
    ${names.list}
    ${problem && html`<p class="problem" role="alert"><${Icon} name="warn" />${t.notSent(reason(t, problem))}</p>`}
    <div class="composer-box">
      <${Avatar} person=${me} />
      <textarea ref=${area} rows="1" data-testid=${thread ? "thread-composer" : "composer"} aria-label=${label} placeholder=${label}
        value=${text} ...${names.aria} onKeyDown=${onKeyDown}
        onInput=${({ target }) => (write(target.value), setCaret(target.selectionStart))}></textarea>
      <${EmojiButton} onTake=${(char) => insert(area.current, char, write)} />
      <button type="submit" class="send" aria-label=${t.send} title=${t.send} disabled=${!text.trim()}><${Icon} name="send" /></button>
    </div>
    <p class="keys">${t.keys}</p>
  </form>`;
}

// Arrow up in an empty composer changes what this person said last, as far as it is in sight.
function editLast(event, { state, act, thread }) {
  const own = ((thread ? state.replies : state.room) ?? []).findLast((message) => mayChange(message, state));
  if (!own) return;
  event.preventDefault();
  act.startEdit(own.ts);
}

function EmojiButton({ onTake }) {
  const { t } = useDesk();
  const [open, setOpen] = useState(false);
  const button = useRef(null);
  return html`<button ref=${button} type="button" class="quiet" title=${t.emojiPicker} aria-label=${t.emojiPicker} aria-haspopup="dialog" aria-expanded=${open}
      onClick=${() => setOpen(!open)}><${Icon} name="smile" /></button>
    ${open && html`<${EmojiPicker} anchor=${button} align="end" onTake=${(name) => onTake(emoji(name))} onClose=${() => setOpen(false)} />`}`;
}

function insert(area, words, write) {
  area.setRangeText(words, area.selectionStart, area.selectionEnd, "end");
  write(area.value);
  area.focus();
}

// What is being written in this place: {text, write, send, problem}. A draft that could not be sent comes back.
function useDraft(area, thread, suggested) {
  const { state, act } = useDesk();
  const place = `${state.me}/${state.channel}/${thread}`;
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState("");
  const write = (value) => {
    drafts.set(place, value);
    setProblem("");
    redraw((count) => count + 1);
  };
  useEffect(() => {
    setProblem("");
    const choosingSeat = document.activeElement?.matches("[role=radio]:focus-visible");
    if (!choosingSeat && matchMedia("(pointer: fine)").matches) area.current.focus({ preventScroll: true });
  }, [place]);
  useEffect(() => {
    if (!suggested) return;
    write(suggested.text);
    area.current.focus();
  }, [suggested]);
  const text = drafts.get(place) ?? "";
  const send = async () => {
    const said = text.trim();
    if (!said) return;
    write("");
    const answer = await act.post(said, thread);
    if (answer.ok) return;
    if (!drafts.get(place)) drafts.set(place, said);
    setProblem(answer.error);
  };
  return { text, write, send, problem };
}

function fit(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}

// The list that opens under "@": arrows choose, Enter or Tab takes, Escape shuts it.
function useMentions(text, caret, replaceText) {
  const { state, t } = useDesk();
  const [chosen, setChosen] = useState(0);
  const [shut, setShut] = useState("");
  const begun = AT_NAME.exec(text.slice(0, caret));
  const offers = begun && shut !== text ? matching(state, begun[2]) : [];
  const at = Math.min(chosen, offers.length - 1);
  const take = (name) => {
    const start = caret - begun[2].length;
    replaceText(`${text.slice(0, start)}${name} ${text.slice(caret)}`, start + name.length + 1);
    setChosen(0);
  };
  const moves = {
    ArrowDown: () => setChosen((at + 1) % offers.length),
    ArrowUp: () => setChosen((at + offers.length - 1) % offers.length),
    Enter: () => take(offers[at].name),
    Tab: () => take(offers[at].name),
    Escape: () => setShut(text),
  };
  const onKeyDown = (event) => {
    if (!offers.length || event.shiftKey || !moves[event.key]) return false;
    event.preventDefault();
    event.stopPropagation();
    moves[event.key]();
    return true;
  };
  const list = offers.length > 0 && html`<ul class="mention-list" role="listbox" id="mentions" aria-label=${t.mentionList}>
    ${offers.map((person, index) => html`<li key=${person.id} id="mention-${index}" role="option" aria-selected=${index === at}
      onMouseDown=${(event) => (event.preventDefault(), take(person.name))}>
      <${Avatar} person=${person} />${person.name} <small>${t.roles[person.role]}</small>
    </li>`)}
  </ul>`;
  const aria = offers.length ? { "aria-controls": "mentions", "aria-activedescendant": `mention-${at}` } : {};
  return { list, onKeyDown, aria };
}

function matching(state, typed) {
  const all = [state.bot.id, ...state.people.map(({ id }) => id)].map((id) => personOf(state, id));
  const wanted = typed.toLocaleLowerCase();
  return all.filter(({ name }) => name.split(/[\s(]+/).some((word) => word.toLocaleLowerCase().startsWith(wanted))).slice(0, 6);
}
