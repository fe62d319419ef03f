// The question that comes next. It is known before it is needed: who sends an answer does not wait for it.

import {answers, wanted} from './answers.js';
import * as api from './api.js';

const minute = 60_000;

let known = [];
let readAt = 0;
let reading = null;

/** listed takes up what the server has listed. */
export function listed(questions) {
  known = questions;
  readAt = Date.now();
}

/** take takes up a question that can be shown at once, and leave drops one that has ended. */
export const take = (question) => { known = [question, ...others(question.question_id)]; };

export const leave = (id) => { known = others(id); };

const others = (id) => known.filter((one) => one.question_id !== id);

/** find returns a question that is known, unless its answer is on its way, or null. */
export const find = (id) => answers.find(id) ? null : known.find((one) => one.question_id === id) ?? null;

/** after returns the question to go on with after one, or null if none is known. */
export const after = (id) => wanted(others(id))[0] ?? null;

/** look reads the list, unless a list of the last minute has a question to go on with. */
export async function look(id) {
  if (after(id) && Date.now() - readAt < minute) return;
  reading ??= api.feed({limit: 10}).then(({questions}) => listed(questions));
  await reading.catch(() => { /* The list of all questions says what is wrong. */ });
  reading = null;
}

/** address is where a question is shown. */
export const address = (id) => `/q/${encodeURIComponent(id)}`;
