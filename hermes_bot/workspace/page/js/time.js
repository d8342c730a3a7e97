// Times as people read them, in the language of the page and the time zone of the browser.

export const dateOf = (ts) => new Date(Number(ts) * 1000);

export const clock = (ts, locale) =>
  new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(dateOf(ts));

export const fullTime = (ts, locale) =>
  new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" }).format(dateOf(ts));

export const dayKey = (ts) => dateOf(ts).toDateString();

export function dayName(ts, locale, t) {
  const date = dateOf(ts);
  const yesterday = new Date();
  yesterday.setDate(yesterday.getDate() - 1);
  if (date.toDateString() === new Date().toDateString()) return t.today;
  if (date.toDateString() === yesterday.toDateString()) return t.yesterday;
  return new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long" }).format(date);
}

export const shortWhen = (ts, locale) =>
  dayKey(ts) === new Date().toDateString()
    ? clock(ts, locale)
    : new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" }).format(dateOf(ts));

const DATE_PARTS = {
  date_num: { year: "numeric", month: "2-digit", day: "2-digit" },
  date_short: { year: "numeric", month: "short", day: "numeric" },
  date_long: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
  date: { year: "numeric", month: "long", day: "numeric" },
  time_secs: { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
  time: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
};

// Slack's <!date^seconds^format|fallback>: "{date_short} {time}" becomes words; the fallback when it cannot.
export function slackDate({ seconds, format, fallback }, locale, t) {
  if (!Number.isFinite(seconds)) return fallback;
  return format.replace(/\{(\w+)\}/g, (whole, name) => {
    if (name === "ago") return ago(seconds, locale);
    const day = dayKey(seconds);
    const isNear = [0, 1].some((back) => new Date(Date.now() - back * 86_400_000).toDateString() === day);
    if (name.endsWith("_pretty") && isNear) return dayName(seconds, locale, t).toLowerCase();
    const parts = DATE_PARTS[name.replace(/_pretty$/, "")];
    return parts ? new Intl.DateTimeFormat(locale, parts).format(dateOf(seconds)) : whole;
  });
}

function ago(seconds, locale) {
  const away = seconds - Date.now() / 1000;
  const words = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const units = [["day", 86_400], ["hour", 3_600], ["minute", 60]];
  const [unit, size] = units.find(([, length]) => Math.abs(away) >= length) ?? ["second", 1];
  return words.format(Math.round(away / size), unit);
}

export function sizeOf(bytes, locale) {
  const units = ["byte", "kilobyte", "megabyte"];
  const step = bytes < 1000 ? 0 : bytes < 1_000_000 ? 1 : 2;
  return new Intl.NumberFormat(locale, { style: "unit", unit: units[step], unitDisplay: step ? "short" : "long", maximumFractionDigits: step ? 1 : 0 }).format(bytes / 1000 ** step);
}
