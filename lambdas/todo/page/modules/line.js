// A task in one line. What stands at its end says more than its title: #category, !priority, a day.

import {day, t} from '../../../kit/webapp/modules/texts.js';

export const priorities = ['low', 'medium', 'high', 'urgent'];

const same = (one, other) => one.toLocaleLowerCase() === other.toLocaleLowerCase();

function dayOf(word) {
  if (same(word, t('day.today'))) return day();
  if (same(word, t('day.tomorrow'))) return day(1);
  const at = /^\d{4}-\d{2}-\d{2}$/.test(word) ? new Date(word) : null;
  return at && !Number.isNaN(+at) && at.toISOString().startsWith(word) ? word : null;
}

/** meaning returns the field that a word gives, or null. */
function meaning(word) {
  if (/^#.{1,50}$/u.test(word)) return {category: word.slice(1)};
  const priority = word.startsWith('!') &&
    priorities.find((one) => same(word.slice(1), one) || same(word.slice(1), t(`priority.${one}`)));
  if (priority) return {priority};
  const due = dayOf(word);
  return due && {due_date: due};
}

/** parse returns the fields of a task. due is the day of a line without one. */
export function parse(line, due) {
  const words = line.trim().split(/\s+/);
  let fields = {};
  for (let found; words.length > 1 && (found = meaning(words.at(-1))); words.pop()) {
    if (Object.keys(found)[0] in fields) break;
    fields = {...fields, ...found};
  }
  return {...(due && {due_date: due}), ...fields, title: words.join(' ')};
}
