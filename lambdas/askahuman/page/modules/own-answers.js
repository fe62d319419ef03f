// One's own answers, and what became of the questions.

import {add, foreign, h, heading, put, say} from '../../../kit/webapp/modules/dom.js';
import {stateOf} from '../../../kit/webapp/modules/states.js';
import {ago, t} from '../../../kit/webapp/modules/texts.js';
import * as api from './api.js';

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
  const draw = ({responses, next_cursor: cursor}) => {
    add(list, responses.map(card));
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
