// What stands beside a view on a wide screen: one's own points, and the first three of the week.

import {figure, foreign, h, link, put} from '../../../kit/webapp/modules/dom.js';
import {number, t} from '../../../kit/webapp/modules/texts.js';
import {follow} from './standing.js';

export async function beside(signal) {
  const side = h('div');
  const draw = ({stats, weekly: {entries}}) => put(side,
    h('h2', null, t('beside.own')),
    h('dl', {class: 'figures'}, figure(t('me.points'), number(stats.total_points)),
      figure(t('me.streak'), t('me.days', {n: stats.streak_days}))),
    entries.length > 0 && [h('h2', null, t('beside.week')), h('ol', {class: 'ranks'},
      entries.slice(0, 3).map((one) => h('li', {class: one.is_current_user && 'own'},
      foreign('span', {class: 'foreign'}, one.handle), h('strong', null, t('beside.points', {n: one.points}))))),
    h('p', null, link('/leaderboard', null, t('beside.all')))]);
  await follow(['stats', 'weekly'], draw, signal, {lost: () => put(side)});
  return side;
}
