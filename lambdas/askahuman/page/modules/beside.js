// What stands beside a view on a wide screen: one's own points, and the first three of the week.

import {figure, foreign, h, link} from '../../../kit/webapp/modules/dom.js';
import {number, t} from '../../../kit/webapp/modules/texts.js';
import {answers} from './answers.js';
import * as api from './api.js';

const minute = 60_000;
let kept = null;
let readAt = 0;
answers.addEventListener('settled', () => { readAt = 0; });

export async function beside(signal) {
  if (Date.now() - readAt > minute) {
    kept = await Promise.all([api.stats(signal), api.leaderboard('weekly', signal, 3)]);
    readAt = Date.now();
  }
  const [own, {entries}] = kept;
  return [
    h('h2', null, t('beside.own')),
    h('dl', {class: 'figures'}, figure(t('me.points'), number(own.total_points)),
      figure(t('me.streak'), t('me.days', {n: own.streak_days}))),
    entries.length > 0 && [h('h2', null, t('beside.week')), h('ol', {class: 'ranks'},
      entries.map((one) => h('li', {class: one.is_current_user && 'own'},
      foreign('span', {class: 'foreign'}, one.handle), h('strong', null, t('beside.points', {n: one.points}))))),
    h('p', null, link('/leaderboard', null, t('beside.all')))],
  ];
}
