// The place in the workspace, written in the address: #user/channel/thread_ts.

const SEAT = "hermes.seat";

// Where the address points. Without a person it is the one last seated in this browser; a message's own link (permalink)
// arrives as ?channel=&ts= and names no person either.
export function readRoute() {
  const [user = "", channel = "", thread = ""] = location.hash.slice(1).split("/").map(decode);
  const link = new URLSearchParams(location.search);
  const seat = user || localStorage.getItem(SEAT) || "";
  if (channel || !link.has("channel")) return { user: seat, channel, thread, target: "" };
  return { user: seat, channel: link.get("channel"), thread: link.get("ts") ?? "", target: link.get("ts") ?? "" };
}

const written = ({ user, channel, thread }) => `#${[user, channel, thread].filter(Boolean).map(encodeURIComponent).join("/")}`;

export function writeRoute(place) {
  location.hash = written(place);
}

// Corrects an address that named what is not there, without a step in the history.
export function replaceRoute(place) {
  localStorage.setItem(SEAT, place.user);
  if (location.hash !== written(place)) history.replaceState(null, "", `${location.pathname}${written(place)}`);
}

// A message's own link, good for whoever may read it.
export const linkTo = (channel, ts) => `${location.origin}/archives/${channel}/p${ts.replace(".", "")}`;

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
