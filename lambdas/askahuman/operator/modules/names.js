// The names on the leaderboards. An operator takes one that deceives or insults, or lets the person choose again.

import {add, foreign, h, heading, link, put, say} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as api from './api.js';
import {doing} from './doing.js';

export const periods = ['daily', 'weekly', 'all_time'];

export async function show({parameters, signal}) {
  const period = periods.includes(parameters.get('period')) ? parameters.get('period') : 'all_time';
  const {entries} = await api.board(period, signal);
  return add(h('div', {class: 'names'}), heading(t('names.title')), h('p', {class: 'lead'}, t('names.lead')),
    h('nav', {'aria-label': t('names.which')}, h('ul', {class: 'chips'}, periods.map((one) =>
      h('li', null, link(`/operator/names?period=${one}`,
        {class: 'chip', 'aria-current': one === period ? 'true' : null}, t(`period.${one}`)))))),
    entries.length === 0 ? h('p', {class: 'empty'}, t('names.none')) : h('ul', {class: 'cards'}, entries.map(card)));
}

function card(entry) {
  const item = h('li', {class: 'card', 'data-person': entry.person});
  const draw = () => {
    const {person, handle, points, version, name_reset: reset = false, blocked = false} = entry;
    const decide = doing(t(reset ? 'names.free' : 'names.reset'),
      () => api.resetHandle(person, !reset, version), () => {
      Object.assign(entry, {version: version + 1, name_reset: !reset});
      draw();
      item.querySelector('h2').focus();
      say(t(reset ? 'names.isFree' : 'names.isReset'));
    }, {class: reset ? null : 'danger'});
    put(item, foreign('h2', {class: 'foreign', tabindex: '-1'}, handle),
      h('p', {class: 'facts'}, h('span', null, t('names.points', {n: points})),
        reset && h('span', {class: 'badge'}, t('names.isReset')), blocked && h('span', null, t('person.blocked'))),
      h('div', {class: 'actions'}, decide));
  };
  draw();
  return item;
}
