// One's own points, streak, rank and badges.

import * as api from './api.js';
import {h, heading} from '../../../kit/webapp/modules/dom.js';
import {audiences} from './feed.js';
import {stateOf} from '../../../kit/webapp/modules/states.js';
import {date, has, number, t} from '../../../kit/webapp/modules/texts.js';

/** badges are all that one can earn, in the order in which they are shown. The server may know more. */
export const badges = [
  'first_answer', 'answers_10', 'answers_100', 'answers_500', 'answers_1000', 'streak_3', 'streak_7', 'streak_30', 'streak_100',
  'tech_expert', 'product_pro', 'ethics_advocate', 'creative_mind', 'generalist', 'early_bird', 'night_owl', 'speed_demon', 'confident',
];

export async function show({signal, reload}) {
  let stats;
  try {
    stats = await api.stats(signal);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return stateOf(error, reload);
  }
  const earned = new Map(stats.badges.map((one) => [one.id, one]));
  const all = [...new Set([...badges, ...earned.keys()])].sort((one, other) => earned.has(other) - earned.has(one));
  const byCategory = audiences.filter((one) => stats.answers_by_category[one] > 0);
  return h('div', {class: 'me'}, heading(t('me.title')),
    h('dl', {class: 'figures'},
      figure(t('me.points'), number(stats.total_points)), figure(t('me.answers'), number(stats.total_answers)),
      figure(t('me.streak'), t('me.days', {n: stats.streak_days})),
      figure(t('me.rank'), stats.rank === null ? t(stats.total_points > 0 ? 'me.rankFar' : 'me.rankNone') : number(stats.rank))),
    byCategory.length > 0 && [h('h2', null, t('me.categories')), h('dl', {class: 'figures'}, byCategory.map((one) => figure(t(`audience.${one}`), number(stats.answers_by_category[one]))))],
    h('h2', null, t('me.badges', {n: earned.size, all: all.length})),
    h('ul', {class: 'badges'}, all.map((id) => {
      const own = earned.get(id);
      return h('li', {class: own ? 'badge' : 'badge open'}, h('strong', null, has(`badge.${id}`) ? t(`badge.${id}`) : own.name),
        has(`badge.${id}.how`) && h('span', null, t(`badge.${id}.how`)), h('span', {class: 'when'}, own ? t('me.earned', {date: date(own.earned_at)}) : t('me.open')));
    })));
}

const figure = (name, value) => h('div', null, h('dt', null, name), h('dd', null, value));
