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
async function send(path, body) {
  try {
    const answer = await fetch(`/client/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const result = await answer.json().catch(() => ({}));
    return answer.ok ? { ok: true, ...result } : { error: `HTTP ${answer.status}`, ...result, ok: false };
  } catch {
    return { ok: false, error: "unreachable" };
  }
}

export const api = {
  people: () => read("people"),
  state: (user) => read("state", { user }),
  messages: (user, channel, threadTs) => read("messages", { user, channel, thread_ts: threadTs }),
  views: (user) => read("views", { user }),
  post: (body) => send("post", body),
  edit: (body) => send("edit", body),
  delete: (body) => send("delete", body),
  action: (body) => send("action", body),
  react: (body) => send("react", body),
  view: (body) => send("view", body),
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
