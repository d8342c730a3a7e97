// Who is who: names, roles, and the hue that a person keeps all over the page.

const HUES = [25, 305, 225, 145, 350, 265, 90, 190];

export function personOf(state, id, username) {
  const bot = id && state.bots.find((one) => one.id === id);
  if (bot) return { ...bot, name: username || bot.name, role: "bot", hue: 175 };
  const at = state.people.findIndex((person) => person.id === id);
  if (at >= 0) return { ...state.people[at], hue: HUES[at % HUES.length] };
  return { id, name: username || id || "", role: "member", hue: 60 };
}

// What stands beside a name: the role, and the company of who comes from another.
export function tagOf(person, t) {
  const role = person.guest || person.stranger ? t.roles.guest : person.role === "member" ? "" : t.roles[person.role];
  return [role, person.company].filter(Boolean).join(" · ");
}

export const nameOf = (state, id) => personOf(state, id).name;

export function initials(name) {
  const words = name.trim().split(/\s+/);
  if (/^\p{Script=Han}/u.test(name)) return [...name][0];
  return words.length > 1 ? words[0][0] + words.at(-1)[0] : name.slice(0, 2);
}

export const shortName = (name) => name.split(/[\s(（]/)[0];

export const placeName = ({ kind, name }) => (kind === "dm" ? name : `#${name}`);
