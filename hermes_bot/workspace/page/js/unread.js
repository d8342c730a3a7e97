// What each person has not looked at yet, kept for this tab: {user: {channel: [{ts, thread, loud}]}}.
// loud marks what is meant for that person (a DM, a mention, a word to them alone): it is counted, the rest is only marked.

const KEY = "hermes.unread";

export function loadUnread() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

// Up to where each person has looked, kept in this browser: {user: {channel: ts}}. What came later while no page was open
// is asked for at the start; of a conversation that was never looked at nothing is.
const SEEN = "hermes.seen";

export function loadSeen() {
  try {
    return JSON.parse(localStorage.getItem(SEEN)) ?? {};
  } catch {
    return {};
  }
}

export function keepSeen(user, channel, ts) {
  const seen = loadSeen();
  if (!ts || ts <= (seen[user]?.[channel] ?? "")) return;
  localStorage.setItem(SEEN, JSON.stringify({ ...seen, [user]: { ...seen[user], [channel]: ts } }));
}

function keep(unread) {
  sessionStorage.setItem(KEY, JSON.stringify(unread));
  return unread;
}

export function addUnread(unread, user, channel, entry) {
  const entries = unread[user]?.[channel] ?? [];
  if (entries.some(({ ts }) => ts === entry.ts)) return unread;
  return keep({ ...unread, [user]: { ...unread[user], [channel]: [...entries, entry] } });
}

// Takes out the entries that match: root messages when thread is "", else those of that thread.
export function clearUnread(unread, user, channel, thread) {
  return filterUnread(unread, user, channel, (entry) => entry.thread !== thread);
}

export const dropUnread = (unread, user, channel, ts) => filterUnread(unread, user, channel, (entry) => entry.ts !== ts);

function filterUnread(unread, user, channel, wanted) {
  const entries = unread[user]?.[channel] ?? [];
  const rest = entries.filter(wanted);
  return rest.length === entries.length ? unread : keep({ ...unread, [user]: { ...unread[user], [channel]: rest } });
}

export const unreadIn = (unread, user, channel) => unread[user]?.[channel] ?? [];

export const loudIn = (unread, user, channel) => unreadIn(unread, user, channel).filter(({ loud }) => loud).length;

export const loudOf = (unread, user) =>
  Object.keys(unread[user] ?? {}).reduce((sum, channel) => sum + loudIn(unread, user, channel), 0);

export const unreadOf = (unread, user) => Object.values(unread[user] ?? {}).reduce((sum, list) => sum + list.length, 0);
