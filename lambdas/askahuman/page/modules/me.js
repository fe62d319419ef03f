// One's own points, streak, rank and badges.

import {figure, h, heading, link, put} from '../../../kit/webapp/modules/dom.js';
import {stateOf} from '../../../kit/webapp/modules/states.js';
import {number, t} from '../../../kit/webapp/modules/texts.js';
import {badge, step} from './badges.js';
import {audiences} from './feed.js';
import {follow} from './standing.js';

/** badges are all that one can earn, in the order in which they are shown. The server may know more. */
const badges = [
  'first_answer', 'answers_10', 'answers_100', 'answers_500', 'answers_1000', 'streak_3', 'streak_7', 'streak_30',
  'streak_100', 'tech_expert', 'product_pro', 'ethics_advocate', 'creative_mind', 'generalist', 'early_bird',
  'night_owl', 'speed_demon', 'confident',
];

export async function show({signal, reload}) {
  const figures = h('dl', {class: 'figures'}), below = h('div');
  // It stays while the numbers change: someone may have opened it, or be on it.
  const summary = h('summary'), further = h('ul', {class: 'badges'}), others = h('details', null, summary, further);
  const draw = ({stats}) => {
    const {badges: earned, next_badges: next = []} = stats;
    const known = new Set([...earned, ...next].map(({id}) => id));
    const rest = badges.filter((id) => !known.has(id)).map((id) => ({id}));
    const byCategory = audiences.filter((one) => stats.answers_by_category[one] > 0);
    put(figures,
      figure(t('me.points'), number(stats.total_points)), figure(t('me.answers'), number(stats.total_answers)),
      figure(t('me.streak'), t('me.days', {n: stats.streak_days})),
      figure(t('me.rank'),
        stats.rank === null ? t(stats.total_points > 0 ? 'me.rankFar' : 'me.rankNone') : number(stats.rank)));
    put(summary, t('me.others', {n: rest.length}));
    put(further, rest.map(step));
    others.hidden = rest.length === 0;
    put(below,
      byCategory.length > 0 && [h('h2', null, t('me.categories')),
        h('dl', {class: 'figures'},
          byCategory.map((one) => figure(t(`audience.${one}`), number(stats.answers_by_category[one]))))],
      next.length > 0 && [h('h2', null, t('me.next')), h('ul', {class: 'badges'}, next.map(step))],
      h('h2', null, t('me.badges', {n: earned.length, all: earned.length + next.length + rest.length})),
      earned.length > 0 && h('ul', {class: 'badges'}, earned.map(badge)));
  };
  try {
    await follow(['stats'], draw, signal, {again: true, lost: () => reload()});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return stateOf(error, reload);
  }
  return h('div', {class: 'me'}, heading(t('me.title')), figures,
    h('p', {class: 'actions'}, link('/answers', {class: 'button'}, t('me.own'))), below, others);
}
