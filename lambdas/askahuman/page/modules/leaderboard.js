// The people with the most points of the day, of the week and of all time.

import * as api from './api.js';
import {foreign, h, heading, link} from '../../../kit/webapp/modules/dom.js';
import {stateOf} from '../../../kit/webapp/modules/states.js';
import {number, t} from '../../../kit/webapp/modules/texts.js';

const periods = ['daily', 'weekly', 'all_time'];

export async function show({parameters, signal, reload}) {
  const period = periods.includes(parameters.get('period')) ? parameters.get('period') : 'all_time';
  let board;
  try {
    board = await api.leaderboard(period, signal);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return stateOf(error, reload);
  }
  const {entries} = board;
  return h('div', {class: 'leaderboard'}, heading(t('board.title')),
    h('nav', {'aria-label': t('board.periods')}, h('ul', {class: 'chips'}, periods.map((one) =>
      h('li', null, link(`/leaderboard?period=${one}`, {class: 'chip', 'aria-current': one === period ? 'true' : null},
        t(`board.${one}`)))))),
    entries.length === 0 ? h('p', {class: 'empty'}, t('board.empty')) : h('table', null,
      h('caption', {class: 'hidden'}, t(`board.${period}`)),
      h('thead', null, h('tr', null, ['rank', 'name', 'points', 'answers'].map((one) =>
        h('th', {scope: 'col'}, t(`board.${one}`))))),
      h('tbody', null, entries.map((one) => h('tr', {class: one.is_current_user ? 'own' : null},
        h('td', null, number(one.rank)), h('th', {scope: 'row'}, foreign('span', {class: 'foreign'}, one.handle),
          one.is_current_user && h('span', {class: 'you'}, t('board.you'))),
        h('td', null, number(one.points)), h('td', null, number(one.answers)))))),
    h('p', {class: 'standing'}, board.your_rank === null ? (board.your_points > 0 ? t('board.far',
      {n: board.your_points}) : t('board.none'))
      : t('board.yours', {rank: board.your_rank, n: board.your_points})));
}
