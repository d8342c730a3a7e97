// The place in the workspace, written in the address: #user/channel/thread_ts.

export function readRoute() {
  const [user = "", channel = "", thread = ""] = location.hash.slice(1).split("/").map(decode);
  return { user, channel, thread };
}

const written = ({ user, channel, thread }) => `#${[user, channel, thread].filter(Boolean).map(encodeURIComponent).join("/")}`;

export function writeRoute(place) {
  location.hash = written(place);
}

// Corrects an address that named what is not there, without a step in the history.
export function replaceRoute(place) {
  if (location.hash !== written(place)) history.replaceState(null, "", written(place));
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
