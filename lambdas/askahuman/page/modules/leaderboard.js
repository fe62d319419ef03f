// The people with the most points of the day, of the week and of all time.

import {foreign, h, heading, link, put} from '../../../kit/webapp/modules/dom.js';
import {settings} from '../../../kit/webapp/modules/settings.js';
import {form} from './report.js';
import {stateOf} from '../../../kit/webapp/modules/states.js';
import {number, t} from '../../../kit/webapp/modules/texts.js';
import {follow, periods} from './standing.js';

export async function show({parameters, signal, reload}) {
  const period = periods.includes(parameters.get('period')) ? parameters.get('period') : 'all_time';
  const board = h('div'), below = h('div');
  const draw = (standing) => {
    put(board, ranks(period, standing));
    // Who is reporting a name goes on.
    if (below.querySelector('details[open]')) return;
    put(below, settings.reports && reporting([...new Set(standing.entries
      .flatMap((one) => one.is_current_user ? [] : [one.handle]))]));
  };
  try {
    await follow([period], (standing) => draw(standing[period]), signal, {again: true, lost: () => reload()});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return stateOf(error, reload);
  }
  return h('div', {class: 'leaderboard'}, heading(t('board.title')),
    h('nav', {'aria-label': t('board.periods')}, h('ul', {class: 'chips'}, periods.map((one) =>
      h('li', null, link(`/leaderboard?period=${one}`, {class: 'chip', 'aria-current': one === period ? 'true' : null},
        t(`board.${one}`)))))),
    board, below);
}

function ranks(period, {entries, your_rank: rank, your_points: n}) {
  return [entries.length === 0 ? h('p', {class: 'empty'}, t('board.empty')) : h('table', null,
      h('caption', {class: 'hidden'}, t(`board.${period}`)),
      h('thead', null, h('tr', null, ['rank', 'name', 'points', 'answers'].map((one) =>
        h('th', {scope: 'col'}, t(`board.${one}`))))),
      h('tbody', null, entries.map((one) => h('tr', {class: one.is_current_user ? 'own' : null},
        h('td', null, number(one.rank)), h('th', {scope: 'row'}, foreign('span', {class: 'foreign'}, one.handle),
          one.is_current_user && h('span', {class: 'you'}, t('board.you'))),
        h('td', null, number(one.points)), h('td', null, number(one.answers)))))),
    h('p', {class: 'standing'},
      rank === null ? t(n > 0 ? 'board.far' : 'board.none', {n}) : t('board.yours', {rank, n}))];
}

/** reporting lets one report a name of someone else. */
function reporting(names) {
  if (names.length === 0) return null;
  const name = h('select', {id: 'name', class: 'foreign'}, names.map((one) =>
    h('option', {value: one, dir: 'auto'}, one)));
  return h('details', {class: 'report'}, h('summary', null, t('named.open')),
    form(() => ({handle: name.value}), (reason) => t(`named.${reason}`),
      {first: [h('label', {for: 'name'}, t('named.name')), name]}));
}
