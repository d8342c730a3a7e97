// The wire to the workspace server: plain JSON calls, and one live socket a person that reconnects by itself.

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 5000;

async function read(path, params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value));
  const answer = await fetch(`/client/${path}?${query}`, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`${path}: HTTP ${answer.status}`);
  return answer.json();
}

// A refusal is a value ({ok: false, error}), also when the server answers it with a 4xx or cannot be reached.
async function send(path, body, type = "application/json") {
  try {
    const answer = await fetch(`/client/${path}`, { method: "POST", headers: { "Content-Type": type }, body });
    const result = await answer.json().catch(() => ({}));
    return answer.ok ? { ok: true, ...result } : { error: `HTTP ${answer.status}`, ...result, ok: false };
  } catch {
    return { ok: false, error: "unreachable" };
  }
}

const tell = (path) => (body) => send(path, JSON.stringify(body));

export const fileUrl = (user, file) => `/client/file?${new URLSearchParams({ user, id: file.id })}`;

export const api = {
  people: () => read("people"),
  state: (user) => read("state", { user }),
  messages: (user, channel, threadTs) => read("messages", { user, channel, thread_ts: threadTs }),
  missed: (user) => read("missed", { user }),
  views: (user) => read("views", { user }),
  post: tell("post"),
  edit: tell("edit"),
  delete: tell("delete"),
  action: tell("action"),
  react: tell("react"),
  look: tell("look"),
  view: tell("view"),
  command: tell("command"),
  shortcut: tell("shortcut"),
  home: tell("home"),
  stop: tell("stop"),
  options: tell("options"),
  upload: (about, file) => send(`upload?${new URLSearchParams(Object.entries(about).filter(([, value]) => value))}`, file, "application/octet-stream"),
};

// Calls onEvent for each push and onOnline(true|false) at each change; lost sockets are opened anew, ever more slowly.
export function live(user, { onEvent, onOnline }) {
  let waitMs = FIRST_WAIT_MS;
  const address = new URL(`/client/live?user=${encodeURIComponent(user)}`, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";

  const open = () => {
    const socket = new WebSocket(address);
    socket.onopen = () => {
      waitMs = FIRST_WAIT_MS;
      onOnline(true);
    };
    socket.onmessage = (frame) => onEvent(JSON.parse(frame.data));
    socket.onclose = () => {
      onOnline(false);
      setTimeout(open, waitMs);
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    };
  };
  open();
}
