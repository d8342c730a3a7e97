// What each person has not read yet: {user: {channel: [{ts, thread, loud}]}}. How far they have read is kept with the
// workspace, so that every page of a seat shows the same.
// loud marks what is meant for that person (a DM, a mention, a word to them alone): it is counted, the rest is only marked.

export function addUnread(unread, user, channel, entry) {
  const entries = unread[user]?.[channel] ?? [];
  if (entries.some(({ ts }) => ts === entry.ts)) return unread;
  return { ...unread, [user]: { ...unread[user], [channel]: [...entries, entry] } };
}

// Takes out the entries that match: root messages when thread is "", else those of that thread; up to `ts`, where one is given.
export function clearUnread(unread, user, channel, thread, ts) {
  return filterUnread(unread, user, channel, (entry) => entry.thread !== thread || (ts && entry.ts > ts));
}

export const dropUnread = (unread, user, channel, ts) => filterUnread(unread, user, channel, (entry) => entry.ts !== ts);

function filterUnread(unread, user, channel, wanted) {
  const entries = unread[user]?.[channel] ?? [];
  const rest = entries.filter(wanted);
  return rest.length === entries.length ? unread : { ...unread, [user]: { ...unread[user], [channel]: rest } };
}

export const unreadIn = (unread, user, channel) => unread[user]?.[channel] ?? [];

export const loudIn = (unread, user, channel) => unreadIn(unread, user, channel).filter(({ loud }) => loud).length;

export const loudOf = (unread, user) =>
  Object.keys(unread[user] ?? {}).reduce((sum, channel) => sum + loudIn(unread, user, channel), 0);

export const unreadOf = (unread, user) => Object.values(unread[user] ?? {}).reduce((sum, list) => sum + list.length, 0);
