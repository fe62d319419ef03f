// One agent: whether it is blocked, and its questions that take answers.

import {add, foreign, h, heading, put, say} from '../../../kit/webapp/modules/dom.js';
import {go} from '../../../kit/webapp/modules/app.js';
import {ago, t} from '../../../kit/webapp/modules/texts.js';
import * as api from './api.js';
import {doing} from './doing.js';
import {hiding} from './hiding.js';
import {beside, hint} from './keys.js';

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
    const {blocked, questions, more, version} = of;
    const block = doing(t(blocked ? 'agent.lift' : 'agent.block'),
      () => api.blockAgent(id, !blocked, version), () => {
      of.blocked = !blocked;
      of.version++;
      draw();
      content.querySelector('h2').focus();
      say(t(blocked ? 'agent.lifted' : 'agent.blocked'));
    }, {class: blocked ? null : 'danger'});
    const open = h('div');
    put(content, foreign('h2', {class: 'foreign', tabindex: '-1'}, id),
      h('p', {class: 'standing', 'data-blocked': blocked}, t(blocked ? 'agent.isBlocked' : 'agent.isNotBlocked')),
      h('div', {class: 'actions'}, block), open);
    const all = questions.length > 1 && h('div', {class: 'actions'}, hiding(open, {label: t('agent.hideAll'),
      id: `agent ${id}`, of: {agent: id, version}, said: t('agent.allHidden'), done: () => reload()}));
    add(open, all, list(questions, more));
  }

  function list(questions, more) {
    const title = h('h3', null, t('agent.questions', {n: questions.length}));
    const none = h('p', {class: 'empty', tabindex: '-1'}, t('agent.none'));
    const card = (question) => {
      const item = h('li', {class: 'card', 'data-question': question.question_id});
      return add(item,
        foreign('blockquote', {class: 'foreign', tabindex: '-1', 'data-item': true}, question.prompt),
        h('p', {class: 'facts'}, h('time', {datetime: question.created_at}, ago(question.created_at))),
        h('div', {class: 'actions'}, hiding(item, {label: t('hide.question'), id: question.question_id, of: question,
          said: t('report.hidden'), done: (focused) => gone(question, item, focused)})));
    };
    const gone = (question, item, focused) => {
      of.questions = of.questions.filter((other) => other !== question);
      put(title, t('agent.questions', {n: of.questions.length}));
      if (of.questions.length === 0) item.parentElement.replaceWith(none);
      if (focused && !beside(item)) none.focus();
      item.remove();
    };
    return [title, more && h('p', {class: 'hint'}, t('agent.moreQuestions')), hint(questions),
      questions.length === 0 ? none : h('ul', {class: 'cards'}, questions.map(card))];
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
