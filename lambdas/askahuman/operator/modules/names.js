// The names on the leaderboards, and the people who have them. An operator takes a name that deceives or insults, or
// lets the person choose again, and blocks who should not be there.

import {add, foreign, h, heading, link, put, say} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as api from './api.js';
import {doing} from './doing.js';
import {hint} from './keys.js';

export const periods = ['daily', 'weekly', 'all_time'];

export async function show({parameters, signal}) {
  const period = periods.includes(parameters.get('period')) ? parameters.get('period') : 'all_time';
  const {entries} = await api.board(period, signal);
  return add(h('div', {class: 'names'}), heading(t('names.title')), h('p', {class: 'lead'}, t('names.lead')),
    h('nav', {'aria-label': t('names.which')}, h('ul', {class: 'chips'}, periods.map((one) =>
      h('li', null, link(`/operator/names?period=${one}`,
        {class: 'chip', 'aria-current': one === period ? 'true' : null}, t(`period.${one}`)))))), hint(entries),
    entries.length === 0 ? h('p', {class: 'empty'}, t('names.none')) : h('ul', {class: 'cards'}, entries.map(card)));
}

function card(entry) {
  const item = h('li', {class: 'card', 'data-person': entry.person});
  const draw = () => put(item,
    foreign('h2', {class: 'foreign', tabindex: '-1', 'data-item': true}, entry.handle),
    h('p', {class: 'facts'}, h('span', null, t('names.points', {n: entry.points}))),
    decisions(entry, (said) => {
      draw();
      item.querySelector('h2').focus();
      say(said);
    }));
  draw();
  return item;
}

/**
 * decisions are what operators have decided about a person, {person, version, name_reset, blocked}, and may decide.
 * told is called with what to say when they have.
 */
export function decisions(of, told) {
  const {person, version, name_reset: reset = false, blocked = false} = of;
  const decided = (change, said) => () => {
    Object.assign(of, change, version === undefined ? {} : {version: version + 1});
    told(t(said));
  };
  return [
    (reset || blocked) && h('p', {class: 'facts'}, reset && h('span', {class: 'badge'}, t('names.isReset')),
      blocked && h('span', {class: 'badge'}, t('person.blocked'))),
    h('div', {class: 'actions'},
      doing(t(reset ? 'names.free' : 'names.reset'), () => api.resetHandle(person, !reset, version),
        decided({name_reset: !reset}, reset ? 'names.isFree' : 'names.isReset'), {class: reset ? null : 'danger'}),
      doing(t(blocked ? 'person.lift' : 'person.block'), () => api.blockPerson(person, !blocked, version),
        decided({blocked: !blocked}, blocked ? 'person.lifted' : 'person.blocked'),
        {class: blocked ? null : 'danger'}))];
}
