// Days as people write them into the line of a task, in English and German. Only what has one meaning is understood.

const names = {
  en: {
    months: ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october',
      'november', 'december'],
    weekdays: ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],
    near: {today: 0, tomorrow: 1, 'the day after tomorrow': 2, 'day after tomorrow': 2},
    numbers: {a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6},
    units: {day: 'day', days: 'day', week: 'week', weeks: 'week', month: 'month', months: 'month'},
    before: /^(on|by|due|this)$/,
    otherwise: new RegExp('^(next|last|past|every|each|until|till?|to|through|since|from|before|after|about|or|and|' +
      'not|the|a|black|good)$'),
    counts: /^(any|some|no|other|first|second|third|fourth|\d+(st|nd|rd|th))$/,
  },
  de: {
    months: ['januar', 'februar', 'märz', 'april', 'mai', 'juni', 'juli', 'august', 'september', 'oktober', 'november',
      'dezember'],
    weekdays: ['sonntag', 'montag', 'dienstag', 'mittwoch', 'donnerstag', 'freitag', 'samstag', 'sonnabend'],
    near: {heute: 0, morgen: 1, übermorgen: 2},
    numbers: {einem: 1, einer: 1, zwei: 2, drei: 3, vier: 4, fünf: 5, sechs: 6},
    units: {tag: 'day', tagen: 'day', woche: 'week', wochen: 'week', monat: 'month', monaten: 'month'},
    before: /^(am|bis|diesen)$/,
    otherwise: new RegExp('^(guten|jeden|jede|nächsten|nächste|letzten|letzte|kommenden|ab|seit|von|vom|vor|nach|' +
      'oder|und|nicht|der|den|gegen|zum|kapitel|abschnitt|version|\\d+\\.)$'),
    counts: /^(übernächsten|vorletzten|ersten|zweiten|dritten|vierten|kein)$/,
  },
};

/** longest is how many words a day has at most. */
const longest = 6;

/** continues is a word after which a day that begins a line is not all that is meant. */
const continues = /^(the|and|or|to|till?|until|through|der|und|oder|bis|[&/–-])$/;

const text = (at) => `${String(at.getFullYear()).padStart(4, '0')}-${String(at.getMonth() + 1).padStart(2, '0')}-${
  String(at.getDate()).padStart(2, '0')}`;

/** on is the day of a calendar, or null where the calendar has none, such as February 30. */
function on(year, month, day) {
  const at = new Date(year, month, day, 12);
  return at.getFullYear() === year && at.getMonth() === month && at.getDate() === day ? at : null;
}

/** next is the next such day of a year, today included. February 29 may be years ahead. */
function next(month, day, now) {
  for (let year = now.getFullYear(); year < now.getFullYear() + 9; year++) {
    const at = on(year, month, day);
    if (at && text(at) >= text(now)) return at;
  }
  return null;
}

const ahead = (days, now) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 12);

/** months is so many months ahead, or the last day of a month that is shorter. */
function months(n, now) {
  const last = new Date(now.getFullYear(), now.getMonth() + n + 1, 0, 12);
  return new Date(last.getFullYear(), last.getMonth(), Math.min(now.getDate(), last.getDate()), 12);
}

/** monthOf is the number of a month, also of its first three letters; -1: it is none. */
const monthOf = (word, all) => word.length < 3 ? -1 :
  all.findIndex((name) => word === name || word.replace(/\.$/, '') === name.slice(0, 3));

const dayOf = (word) => /^(\d{1,2})(st|nd|rd|th|\.)?$/.test(word) ? parseInt(word, 10) : 0;

/** yearOf is a year that is meant: 1430 is a time. */
const yearOf = (word) => /^20\d{2}$/.test(word) ? Number(word) : 0;

/** dated reads a day with the name of its month, such as Dec 5, 5th of December, 2027 or 5. Dezember. */
function dated(words, language, now) {
  const counted = words[0] === 'the' ? words.slice(1) : words;
  const bare = counted.map((word) => word.replace(/,$/, '')).filter((word, at) => word !== 'of' || at !== 1);
  if (bare.length < 2 || bare.length > 3) return null;
  const [first, second, third] = bare;
  const year = third ? yearOf(third) : 0;
  if (third && !year) return null;
  const firstMonth = language === 'en' ? monthOf(first, names.en.months) : -1;
  const month = firstMonth >= 0 ? firstMonth : monthOf(second, names[language].months);
  const day = dayOf(firstMonth >= 0 ? second : first);
  if (month < 0 || !day) return null;
  return year ? on(year, month, day) : next(month, day, now);
}

/** numbered reads 2027-01-31, and in German 31.1. and 31.1.2027. */
function numbered(word, language, now) {
  let found = word.match(/^(\d{4})-(\d{2})-(\d{2})$/);
  if (found) return on(Number(found[1]), found[2] - 1, Number(found[3]));
  found = language === 'de' && word.match(/^(\d{1,2})\.(\d{1,2})\.(\d{4})?$/);
  if (!found) return null;
  return found[3] ? on(Number(found[3]), found[2] - 1, Number(found[1])) : next(found[2] - 1, Number(found[1]), now);
}

/** meant is the day that all the words name, without what stands before it. */
function meant(words, language, now) {
  const {near, numbers, units, weekdays} = names[language];
  const phrase = words.join(' ');
  if (Object.hasOwn(near, phrase)) return ahead(near[phrase], now);
  if (words.length === 1) {
    const weekday = weekdays.indexOf(phrase);
    // Sonnabend is Samstag.
    if (weekday >= 0) return ahead((Math.min(weekday, 6) - now.getDay() + 6) % 7 + 1, now);
    return numbered(phrase, language, now);
  }
  if (words.length === 3 && words[0] === 'in' && Object.hasOwn(units, words[2])) {
    const n = /^\d{1,3}$/.test(words[1]) ? Number(words[1]) : Object.hasOwn(numbers, words[1]) && numbers[words[1]];
    if (!n) return null;
    const unit = units[words[2]];
    return unit === 'month' ? months(n, now) : ahead(unit === 'week' ? 7 * n : n, now);
  }
  return dated(words, language, now);
}

/**
 * read returns the day that all the words name, such as 2027-01-31, or null. It looks at those before them, too: next
 * Friday and every Friday are not the coming one.
 */
function read(words, preceding, language, now) {
  const lower = words.map((word) => word.toLowerCase());
  const {before, counts, near, otherwise, weekdays} = names[language];
  const rest = lower.length > 1 && before.test(lower[0]) ? lower.slice(1) : lower;
  // In German, am Morgen is in the morning.
  if (rest !== lower && Object.hasOwn(near, rest.join(' ')) && language === 'de' && lower[0] === 'am') return null;
  const earlier = preceding.at(-1)?.toLowerCase() ?? '';
  if (otherwise.test(earlier) || rest === lower && before.test(earlier)) return null;
  const isWeekday = (word) => weekdays.includes(word.replace(/,$/, ''));
  // Every other Monday, and several days: Monday, Tuesday; Montag bis Freitag; Dec 3 - Dec 5.
  if (isWeekday(rest.at(-1)) && (counts.test(earlier) || isWeekday(earlier))) return null;
  const begun = preceding.at(-2)?.toLowerCase() ?? '';
  if (/^[&/–-]$/.test(earlier) && (isWeekday(begun) || /\d\.?$/.test(begun))) return null;
  const at = meant(rest, language, now);
  return at && text(at);
}

/**
 * find returns the day that stands at the end of a line, or at its beginning, as {day, from, to}: the words from and
 * before to name it. A time may follow it. null: there is none. Other languages than German are read as English.
 */
export function find(words, language, now = new Date()) {
  const known = language === 'de' ? 'de' : 'en';
  let end = words.length;
  if (end > 1 && /^uhr$/i.test(words[end - 1])) end--;
  if (end > 1 && /^\d{1,2}[:.]\d{2}$/.test(words[end - 1])) {
    end--;
    if (end > 1 && /^(at|um)$/i.test(words[end - 1])) end--;
  } else {
    end = words.length;
  }
  for (let from = Math.max(0, end - longest); from < end; from++) {
    const day = read(words.slice(from, end), words.slice(0, from), known, now);
    if (day) return {day, from, to: end};
  }
  // At the beginning, a weekday alone is more often the name of something.
  for (let to = Math.min(longest, words.length); to > 0; to--) {
    const begins = words.slice(0, to), following = words[to]?.toLowerCase();
    const weekday = to === 1 && names[known].weekdays.includes(begins[0].toLowerCase());
    const day = !weekday && !continues.test(following ?? '') && read(begins, [], known, now);
    if (day) return {day, from: 0, to};
  }
  return null;
}
