// A task in one line. A day at its end or beginning, and #category and !priority at its end, are no part of the title.

import {chosen, t} from '../../../kit/webapp/modules/texts.js';
import {find} from './days.js';

export const priorities = ['low', 'medium', 'high', 'urgent'];

const same = (one, other) => one.toLocaleLowerCase() === other.toLocaleLowerCase();

/** meaning returns the field that a word gives, or null. */
function meaning(word) {
  if (/^#.{1,50}$/u.test(word)) return {category: word.slice(1)};
  const priority = word.startsWith('!') &&
    priorities.find((one) => same(word.slice(1), one) || same(word.slice(1), t(`priority.${one}`)));
  return priority ? {priority} : null;
}

/**
 * parse returns the fields of a task, and for each field but the title the words that gave it. Words of the set plain
 * mean nothing: they stay in the title.
 */
export function parse(line, plain = new Set()) {
  const words = line.trim().split(/\s+/);
  const fields = {}, found = {};
  const take = (field, value, from, to) => {
    const text = words.slice(from, to).join(' ');
    if (field in fields || plain.has(text) || to - from === words.length) return false;
    fields[field] = value;
    found[field] = text;
    words.splice(from, to - from);
    return true;
  };
  const takeDay = () => {
    const day = find(words, chosen());
    return Boolean(day) && take('due_date', day.day, day.from, day.to);
  };
  // Tags may stand before the day and after it.
  for (let more = true; more;) {
    const [field, value] = Object.entries(meaning(words.at(-1)) ?? {})[0] ?? [];
    more = Boolean(field) && take(field, value, words.length - 1, words.length);
    if (!more && !('due_date' in fields)) more = takeDay();
  }
  return {task: {...fields, title: words.join(' ')}, found};
}
