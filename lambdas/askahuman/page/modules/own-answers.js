// One's own answers, and what became of the questions.

import {add, foreign, h, heading, put, say} from '../../../kit/webapp/modules/dom.js';
import {stateOf} from '../../../kit/webapp/modules/states.js';
import {ago, t} from '../../../kit/webapp/modules/texts.js';
import {answers} from './answers.js';
import * as api from './api.js';
import {recent} from './standing.js';

export async function show({signal, reload}) {
  let page;
  try {
    page = await api.responses(null, signal);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return stateOf(error, reload);
  }
  const list = h('ul', {class: 'cards', 'aria-label': t('own.title')});
  const below = h('div', {class: 'actions'});
  const listed = new Set();
  const fresh = (all) => all.filter(({question_id: id}) => !listed.has(id) && listed.add(id));
  const draw = ({responses, next_cursor: cursor}) => {
    // What the server lists is known better than what has just arrived there.
    const read = fresh(responses);
    list.prepend(...fresh(recent).map(card));
    add(list, read.map(card));
    put(below, list.children.length === 0 && h('p', {class: 'empty'}, t('own.empty')),
      cursor && h('button', {type: 'button', onclick: (event) => more(event.currentTarget, cursor)}, t('own.more')));
  };

  async function more(button, cursor) {
    button.disabled = true;
    const seen = list.children.length;
    try {
      draw(await api.responses(cursor, signal));
      list.children[seen]?.querySelector('p').focus();
    } catch (error) {
      if (error.name === 'AbortError') return;
      button.disabled = false;
      say(t(`said.${error.kind ?? 'server'}`));
    }
  }

  answers.addEventListener('settled', async ({detail: {outcome}}) => {
    if (outcome.kind !== 'sent') return;
    // What an earlier attempt earned the server alone knows.
    const newest = outcome.receipt ? recent :
      await api.responses(null, signal).then(({responses}) => responses, () => []);
    list.prepend(...fresh(newest).map(card));
    if (list.children.length > 0) below.querySelector('.empty')?.remove();
  }, {signal});
  draw(page);
  return h('div', {class: 'own-answers'}, heading(t('own.title')), h('p', {class: 'lead'}, t('own.lead')), list, below);
}

const card = (one) => h('li', {class: 'card', 'data-question': one.question_id},
  one.prompt ? foreign('p', {class: 'foreign clamped', tabindex: '-1'}, one.prompt) : h('p',
    {class: 'when', tabindex: '-1'}, t('own.gone')),
  foreign('p', {class: 'foreign said clamped'}, one.answer ?? one.option ?? ''),
  h('p', {class: 'facts'}, h('span', {class: 'worth'}, t('thanks.points', {n: one.points})),
    one.status && h('span', null, t(`own.${one.status.toLowerCase()}`)),
    h('span', null, h('time', {datetime: one.created_at}, ago(one.created_at)))));
