// What is being written in each place, until it is sent.
import { useDesk, useEffect, useState } from "./ui.js";

const drafts = new Map(); // place -> {text, files}
const EMPTY = { text: "", files: [] };
const COMMAND = /^\/([\w-]+)(?:\s+([\s\S]*))?$/;

// {text, files, write, attach, drop, send, problem, busy}. A draft that could not be sent comes back.
export function useDraft(area, thread, suggested) {
  const { state, act } = useDesk();
  const place = `${state.me}/${state.channel}/${thread}`;
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const put = (part) => {
    drafts.set(place, { ...(drafts.get(place) ?? EMPTY), ...part });
    setProblem("");
    redraw((count) => count + 1);
  };
  useEffect(() => {
    setProblem("");
    const choosingSeat = document.activeElement?.matches("[role=radio]:focus-visible, [role=tab]:focus-visible");
    if (!choosingSeat && matchMedia("(pointer: fine)").matches) area.current.focus({ preventScroll: true });
  }, [place]);
  useEffect(() => {
    if (!suggested) return;
    put({ text: suggested.text });
    area.current.focus();
  }, [suggested]);
  const { text, files } = drafts.get(place) ?? EMPTY;
  const send = async (more) => {
    const said = text.trim();
    if (busy || (!said && !files.length)) return;
    put(EMPTY);
    setBusy(files.length > 0);
    const answer = await sent({ act, thread, said, files, more });
    setBusy(false);
    if (answer.ok) return;
    if (!drafts.get(place)?.text) drafts.set(place, { text: said, files });
    setProblem(answer.error);
  };
  const attach = (more) => put({ files: [...files, ...more] });
  const drop = (file) => put({ files: files.filter((one) => one !== file) });
  return { text, files, write: (value) => put({ text: value }), attach, drop, send, problem, busy };
}

function sent({ act, thread, said, files, more }) {
  const command = files.length ? null : COMMAND.exec(said);
  if (!command) return act.post({ text: said, thread, files, ...more });
  return thread ? { ok: false, error: "command_in_thread" } : act.command(`/${command[1]}`, command[2] ?? "");
}

export const hasFiles = (transfer) => [...(transfer?.types ?? [])].includes("Files");
