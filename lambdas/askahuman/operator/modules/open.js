// How many reports are open, for the menu: as many as the first page of the list has, less what was decided since.

import {mark} from '../../../kit/webapp/modules/app.js';
import {h} from '../../../kit/webapp/modules/dom.js';
import {number, t} from '../../../kit/webapp/modules/texts.js';
import * as api from './api.js';
import {operator} from './operator.js';

const old = 60_000;

let open = {n: 0, more: false};
let read = 0;

/** count is what the menu says. */
export const count = () => open.n > 0 && operator.signedIn() && [
  h('span', {'aria-hidden': 'true'}, number(open.n) + (open.more ? '+' : '')),
  h('span', {class: 'hidden'}, t(open.more ? 'nav.openOrMore' : 'nav.open', {n: open.n}))];

/** known takes the first page of open reports. */
export function known({reports, next_cursor: next}) {
  open = {n: reports.length, more: Boolean(next)};
  read = Date.now();
  mark();
}

/** decided counts a report that is no longer open, or open again. */
export function decided(by) {
  open.n = Math.max(0, open.n + by);
  mark();
}

/** look reads the count again, if it is a minute old. */
export async function look() {
  if (!operator.signedIn() || document.visibilityState === 'hidden' || Date.now() - read < old) return;
  read = Date.now();
  await api.reports({}).then(known, () => { /* The view says what is wrong. */ });
}
document.addEventListener('visibilitychange', look);
