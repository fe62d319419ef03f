// Answers on their way, and the questions that this device has dealt with. The server takes one answer of a person to a
// question, so sending one again is safe: if what became of an earlier attempt is not known, ALREADY_ANSWERED means
// that it arrived.

import {Outbox} from '../../../kit/webapp/modules/outbox.js';
import {dropDraft, read, write} from '../../../kit/webapp/modules/store.js';
import {answer} from './api.js';
import {arrived} from './standing.js';

export const answers = new Outbox({
  send: (entry) => answer(entry.body),
  arrived: (problem) => problem.kind === 'answered',
  decided(entry, outcome) {
    if (outcome.kind !== 'sent' && outcome.kind !== 'answered') return;
    remember('answered', entry.id);
    dropDraft(entry.id);
  },
  settling: (entry, outcome) => outcome.kind === 'sent' ? arrived(entry, outcome.receipt) : null,
});

// The feed leaves out the questions that this device has answered, which the server lists for a moment more, and those
// that someone has passed over or reported, for good.

const most = {answered: 200, passed: 1000};

const remember = (key, id) => write(key, [id, ...read(key, []).filter((other) => other !== id)].slice(0, most[key]));

export const answered = (id) => read('answered', []).includes(id);

export const pass = (id) => remember('passed', id);

export const takeUp = (id) => write('passed', read('passed', []).filter((other) => other !== id));

/** wanted are the questions that someone has not dealt with. */
export function wanted(questions) {
  const others = new Set([...Object.keys(most).flatMap((key) => read(key, [])),
    ...answers.waiting().map(({id}) => id)]);
  return questions.filter((one) => !others.has(one.question_id));
}
