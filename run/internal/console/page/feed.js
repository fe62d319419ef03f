// Lists that follow what happens, and stand still for those who read them.

import {h} from './dom.js';
import {plural} from './format.js';
import {on} from './live.js';

// No more than this wait for a list that stands still.
const most = 300;

/**
 * feed fills a list with what read returns, and then takes each event of a kind that is wanted. While the pointer is on
 * the list, or the button Pause is pressed, events wait, but for those that are known there.
 */
export function feed(kind, {list, read, fill, wanted, known = () => false, take, draw}, signal) {
  let held = new Map();
  let paused = false;
  let missed = false;
  let drawing = 0;
  let loads = 0;
  let loading = false;
  // The browser takes what a finger has touched as pointed at until it touches something else.
  let pointed = false;
  const still = () => paused || pointed && list.matches(':hover');
  const release = () => {
    if (loading || still()) return;
    for (const one of held.values()) take(one);
    held = new Map();
    draw();
    if (missed) load();
  };
  // What happens meanwhile may be missing in the answer. A newer load takes the place of one that is under way.
  const load = async () => {
    const turn = ++loads;
    loading = true;
    missed = false;
    held = new Map();
    try {
      const answer = await read();
      if (turn === loads) fill(answer);
    } finally {
      if (turn === loads) loading = false;
    }
    draw();
    release();
  };
  on(kind, (one) => {
    if (!wanted(one)) return;
    if (!loading && (!still() || known(one))) take(one);
    else held.set(one.seq, one);
    if (held.size > most) held.delete(held.keys().next().value);
    // Under load a few drawings a second are enough.
    drawing ||= setTimeout(() => {
      drawing = 0;
      if (!signal.aborted) draw();
    }, 150);
  }, signal);
  on('open', () => {
    missed = still();
    if (!missed) load();
  }, signal);
  list.addEventListener('pointerenter', (event) => { pointed = event.pointerType !== 'touch'; });
  list.addEventListener('pointerleave', () => {
    pointed = false;
    release();
  });
  const pause = h('button', {type: 'button', 'aria-pressed': 'false', onclick: () => {
    paused = !paused;
    pause.setAttribute('aria-pressed', String(paused));
    release();
  }}, 'Pause');
  return {
    pause, load,
    /** waiting says how many wait, or nothing: "3 newer requests wait". */
    waiting: (what) => still() && held.size > 0 &&
      `${plural(held.size, `newer ${what}`)} ${held.size === 1 ? 'waits' : 'wait'}`,
  };
}
