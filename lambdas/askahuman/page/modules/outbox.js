// Answers on their way. Each is kept on the device before it is sent, and until the server has said what became of it: a reload, a
// closed page or a lost network loses none. The server takes one answer of a person to a question, so sending one again is safe: if
// what became of an earlier attempt is not known, ALREADY_ANSWERED means that it arrived.

import {answer, Problem} from './api.js';
import {dropDraft, leftOut, read, rememberAnswered, write} from './store.js';

const key = 'outbox';

/** events has "change" when the outbox changes, and "settled" with {entry, outcome} in detail when an answer has been decided. */
export const events = new EventTarget();

/** waiting lists the answers that are not decided yet. */
export const waiting = () => read(key, []);

export const find = (id) => waiting().find((entry) => entry.body.question_id === id) ?? null;

/** wanted are the questions that someone has not dealt with. */
export function wanted(questions) {
  const others = new Set([...leftOut(), ...waiting().map((entry) => entry.body.question_id)]);
  return questions.filter((one) => !others.has(one.question_id));
}

function save(entries) {
  write(key, entries);
  events.dispatchEvent(new Event('change'));
}

const without = (id) => waiting().filter((entry) => entry.body.question_id !== id);

/** keep puts an answer into the outbox. */
export function keep(body, prompt) {
  save([...without(body.question_id), {body, prompt, attempted: false, kept: Date.now()}]);
}

/** takeBack removes an answer that was never sent, to change it. */
export function takeBack(id) {
  const entry = find(id);
  if (!entry || entry.attempted) return null;
  save(without(id));
  return entry;
}

// One tab at a time sends.
const alone = (work) => navigator.locks ? navigator.locks.request('ask-a-human outbox', work) : work();

/**
 * send sends one answer, and returns what became of it: sent with the server's receipt, which is null if an earlier attempt had
 * arrived; answered, closed, gone, blocked or refused; or null, with the Problem in problem, if it has to be sent again.
 */
export function send(id) {
  return alone(async () => {
    const entry = find(id);
    if (!entry) return {kind: null, problem: null};
    const attempted = entry.attempted;
    mark(id, true);
    try {
      return settle(entry, {kind: 'sent', receipt: await answer(entry.body)});
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (problem.unknown) return {kind: null, problem};
      if (problem.kind === 'answered' && attempted) return settle(entry, {kind: 'sent', receipt: null});
      if (problem.kind === 'limited') {
        mark(id, attempted);
        return {kind: null, problem};
      }
      return settle(entry, {kind: problem.kind, problem});
    }
  });
}

const mark = (id, attempted) => save(waiting().map((entry) => entry.body.question_id === id ? {...entry, attempted} : entry));

function settle(entry, outcome) {
  const id = entry.body.question_id;
  if (outcome.kind === 'sent' || outcome.kind === 'answered') {
    rememberAnswered(id);
    dropDraft(id);
  }
  save(without(id));
  events.dispatchEvent(new CustomEvent('settled', {detail: {entry, outcome}}));
  return outcome;
}

const shortest = 2_000, longest = 5 * 60_000;
let pause = shortest;
let timer = null;
let underWay = false;

/** flush sends all that waits, and comes back later for what has to be sent again. */
export async function flush() {
  if (underWay) return;
  underWay = true;
  clearTimeout(timer);
  let again = 0;
  try {
    for (const entry of waiting()) {
      const {kind, problem} = await send(entry.body.question_id);
      if (kind || !problem) continue;
      again = Math.max(again, (problem.after ?? 0) * 1000, pause);
      break;
    }
  } finally {
    underWay = false;
  }
  if (!again) {
    pause = shortest;
    return;
  }
  pause = Math.min(longest, pause * 2);
  // Where there is no network at all, the browser says when there is one again.
  if (navigator.onLine !== false) timer = setTimeout(flush, again);
}

/** start sends what waits now, when there is a network again, and when someone comes back to the page. */
export function start() {
  const soon = () => {
    pause = shortest;
    if (waiting().length > 0) flush();
  };
  addEventListener('online', soon);
  document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'visible') soon(); });
  soon();
}
