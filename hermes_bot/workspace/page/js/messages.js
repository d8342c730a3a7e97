// Lists of messages as values: ordered by ts, each ts once.

const before = (one, other) => (one.ts < other.ts ? -1 : one.ts > other.ts ? 1 : 0);

export const isReply = (message) => Boolean(message.thread_ts) && message.thread_ts !== message.ts;

export const put = (list, message) => [...list.filter(({ ts }) => ts !== message.ts), message].sort(before);

export const replace = (list, message) => list.map((old) => (old.ts === message.ts ? { ...old, ...message } : old));

export const remove = (list, ts) => list.filter((message) => message.ts !== ts);

// A new reply seen before its parent's own change: the parent counts it once, whichever comes first.
export function countReply(list, reply) {
  return list.map((root) => {
    if (root.ts !== reply.thread_ts || reply.ephemeral || (root.latest_reply && root.latest_reply >= reply.ts)) return root;
    return { ...root, reply_count: (root.reply_count ?? 0) + 1, latest_reply: reply.ts };
  });
}

const GROUP_S = 300;

// True when a message continues the one above it, so that its author need not be shown again.
export function continues(message, above) {
  if (!above || message.ephemeral !== above.ephemeral || above.deleted || above.reply_count) return false;
  const sameAuthor = message.user === above.user && (message.username || "") === (above.username || "");
  return sameAuthor && Number(message.ts) - Number(above.ts) < GROUP_S;
}
