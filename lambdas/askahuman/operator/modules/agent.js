// One agent: whether it is blocked, and its questions that take answers.

import {add, foreign, h, heading, put, say} from '../../../kit/webapp/modules/dom.js';
import {go} from '../../../kit/webapp/modules/app.js';
import {ago, t} from '../../../kit/webapp/modules/texts.js';
import * as api from './api.js';
import {doing} from './doing.js';

export async function show({parameters, signal, reload}) {
  const id = parameters.get('id')?.trim() ?? '';
  const view = add(h('div', {class: 'agent'}), heading(t('agent.title')),
    h('p', {class: 'lead'}, t('agent.lead')), search(id));
  if (!id) return view;
  const of = await api.ofAgent(id, signal);
  const content = h('section');
  draw();
  return add(view, content);

  function draw() {
    const {blocked, questions, more} = of;
    const block = doing(t(blocked ? 'agent.lift' : 'agent.block'),
      () => api.blockAgent(id, !blocked, of.version), () => {
      of.blocked = !blocked;
      of.version++;
      again(blocked ? 'agent.lifted' : 'agent.blocked');
    }, {class: blocked ? null : 'danger'});
    put(content, foreign('h2', {class: 'foreign', tabindex: '-1'}, id),
      h('p', {class: 'standing', 'data-blocked': blocked}, t(blocked ? 'agent.isBlocked' : 'agent.isNotBlocked')),
      h('div', {class: 'actions'}, block,
        questions.length > 1 && doing(t('agent.hideAll'), () => api.hideAll(id, of.version), reload,
          {class: 'danger'})),
      h('h3', null, t('agent.questions', {n: questions.length})),
      more && h('p', {class: 'hint'}, t('agent.moreQuestions')),
      questions.length === 0 ? h('p', {class: 'empty'}, t('agent.none'))
        : h('ul', {class: 'cards'}, questions.map(card)));
  }

  function card(question) {
    const hide = doing(t('hide.question'), () => api.hide(question, true), () => {
      of.questions = of.questions.filter((other) => other !== question);
      again('report.hidden');
    }, {class: 'danger'});
    return h('li', {class: 'card', 'data-question': question.question_id},
      foreign('blockquote', {class: 'foreign'}, question.prompt),
      h('p', {class: 'facts'}, h('time', {datetime: question.created_at}, ago(question.created_at))),
      h('div', {class: 'actions'}, hide));
  }

  function again(said) {
    draw();
    content.querySelector('h2').focus();
    say(t(said));
  }
}

function search(id) {
  const field = h('input', {type: 'text', id: 'agent', name: 'agent', maxlength: '255', value: id, required: true,
    autocapitalize: 'none', autocomplete: 'off', spellcheck: 'false', dir: 'auto'});
  return h('form', {role: 'search', onsubmit: (event) => {
    event.preventDefault();
    go(`/operator/agent?${new URLSearchParams({id: field.value.trim()})}`);
  }}, h('label', {for: 'agent'}, t('agent.id')), field,
  h('p', {class: 'actions'}, h('button', {type: 'submit'}, t('agent.look'))));
}
