// What the server says of the person: their standing, and the boards by period. All that shows any of it follows this
// one store. Its parts are read together, so that no two numbers on a view differ.

import * as api from './api.js';

const minute = 60_000;

/** patience is how long an answer that has arrived waits for the numbers that it changes, in ms. */
const patience = 2_000;

export const periods = ['daily', 'weekly', 'all_time'];

const sources = {stats: api.stats,
  ...Object.fromEntries(periods.map((period) => [period, (signal) => api.leaderboard(period, signal)]))};

const store = new EventTarget();

/** followed has a list of parts for each place that shows some. */
const followed = new Set();

/** recent are the answers that have arrived since the page was loaded: the server's list may lack them for a moment. */
export let recent = [];

let kept = {};
let keptAt = 0;
let begun = 0;
let taken = 0;

/** refresh reads all parts that are shown, and tells those that show them. */
async function refresh(signal) {
  const n = ++begun;
  const parts = [...new Set([...followed].flat())];
  const values = await Promise.all(parts.map((part) => sources[part](signal)));
  // Of two readings, the one that began later is the newer one.
  if (n < taken) return;
  taken = n;
  kept = Object.fromEntries(parts.map((part, at) => [part, values[at]]));
  keptAt = Date.now();
  store.dispatchEvent(new Event('change'));
}

/**
 * follow calls draw with these parts by name, now and each time that they change, until the signal ends. again reads
 * them also if they are younger than a minute. lost is called when they are not known any more. It throws the Problem
 * of the first reading.
 */
export async function follow(parts, draw, signal, {again = false, lost = () => {}} = {}) {
  signal.throwIfAborted();
  followed.add(parts);
  signal.addEventListener('abort', () => followed.delete(parts));
  const whole = () => parts.every((part) => part in kept);
  if (again || !whole() || Date.now() - keptAt > minute) await refresh(signal);
  if (signal.aborted || !whole()) throw new DOMException('left', 'AbortError');
  draw(kept);
  store.addEventListener('change', () => whole() ? draw(kept) : lost(), {signal});
}

/** drop drops what was read: it is not so any more. */
function drop() {
  kept = {};
  taken = ++begun;
  store.dispatchEvent(new Event('change'));
}

/** forget drops all: it was of another person. */
export function forget() {
  recent = [];
  drop();
}

/** renew reads again what is shown, for the server has changed it. What cannot be read soon is not shown until then. */
export async function renew() {
  keptAt = 0;
  if (followed.size === 0) return;
  try {
    await refresh(AbortSignal.timeout(patience));
  } catch {
    drop();
    refresh().catch(() => { /* The next view reads it. */ });
  }
}

/** arrived takes up an answer that the server has, with what it earned, if that is known. */
export function arrived({id, title, options, body}, receipt) {
  if (receipt && !receipt.late) recent = [{question_id: id, prompt: title, answer: body.answer,
    option: options?.[body.selected_option], points: receipt.points_earned, created_at: new Date().toISOString()},
  ...recent];
  return renew();
}
