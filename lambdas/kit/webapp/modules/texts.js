// All texts that people read, in the language that they chose or that their browser asks for. texts/<language>.json has
// them: a file more is a language more.

import {read, write} from './store.js';

const addresses = new Map(document.documentElement.dataset.texts.trim().split(/\s+/)
  .map((address) => [address.match(/([^/]+)\.json$/)[1], address]));
const fallback = 'en';

let texts = {};
let language = fallback;

/** languages are the tags of all languages. */
export const languages = [...addresses.keys()];

/** choose returns the first of the wanted languages that there is, also by its first part: de for de-AT. */
export function choose(wanted, available) {
  for (const tag of wanted) {
    for (const candidate of [tag, tag.split('-')[0]]) {
      const found = available.find((one) => one.toLowerCase() === candidate.toLowerCase());
      if (found) return found;
    }
  }
  return fallback;
}

/** load loads the texts. */
export async function load() {
  language = choose([read('language'), ...(navigator.languages ?? [])].filter(Boolean), languages);
  const answer = await fetch(addresses.get(language));
  if (!answer.ok) throw new Error(`the texts in ${language}: ${answer.status}`);
  texts = await answer.json();
  document.documentElement.lang = language;
  document.documentElement.dir = texts.direction ?? 'ltr';
}

/** chosen is the language that is shown. */
export const chosen = () => language;

/** change shows another language from now on. */
export async function change(tag) {
  write('language', tag);
  await load();
}

/**
 * t returns a text with its values filled in. A text with several forms has the one for the number n, by the rules of
 * the language.
 */
export function t(key, values = {}) {
  let text = texts[key] ?? key;
  if (typeof text === 'object') text = text[new Intl.PluralRules(language).select(values.n)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) => name in values ? format(values[name]) : whole);
}

/** has reports whether there is such a text. */
export const has = (key) => key in texts;

const format = (value) => typeof value === 'number' ? number(value) : String(value);

export const number = (value) => new Intl.NumberFormat(language).format(value);

export const date = (value) => new Intl.DateTimeFormat(language, {dateStyle: 'medium'}).format(new Date(value));

/** day is a day such as 2026-11-27, where the person is, so many days from today. */
export function day(ahead = 0) {
  const at = new Date();
  at.setDate(at.getDate() + ahead);
  return new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** time is a time of day, such as 19:00. */
export const time = (value) => new Intl.DateTimeFormat(language, {timeStyle: 'short'}).format(new Date(value));

const units = [['day', 86_400], ['hour', 3600], ['minute', 60]];

/** ago says how long ago a time was. */
export const ago = (value, now = Date.now()) => relative(Math.min(0, Date.parse(value) - now));

/** ahead says how long it takes until a time. */
export const ahead = (value, now = Date.now()) => relative(Math.max(0, Date.parse(value) - now));

function relative(ms) {
  const seconds = Math.abs(ms) / 1000;
  const format = new Intl.RelativeTimeFormat(language, {numeric: 'auto'});
  for (const [unit, length] of units) {
    if (seconds >= length) return format.format(Math.sign(ms) * Math.floor(seconds / length), unit);
  }
  return t('time.now');
}

/** name is what a language is called by those who speak it. */
export function name(tag) {
  try {
    return new Intl.DisplayNames([tag], {type: 'language'}).of(tag);
  } catch {
    return tag;
  }
}
