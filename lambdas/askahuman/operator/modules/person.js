// One person, who has told an operator their id: what is kept of them. The id is in no address, because addresses are
// logged.

import {data} from '../../../kit/webapp/modules/account.js';
import {add, foreign, h, heading, put, say} from '../../../kit/webapp/modules/dom.js';
import {problem} from '../../../kit/webapp/modules/forms.js';
import {ago, t} from '../../../kit/webapp/modules/texts.js';
import {copied, erased} from '../../page/modules/personal.js';
import * as api from './api.js';
import {reason} from './doing.js';
import {decisions} from './names.js';

export function show() {
  const field = h('input', {type: 'text', id: 'person', maxlength: '512', required: true, autocapitalize: 'none',
    autocomplete: 'off', spellcheck: 'false', dir: 'auto', 'aria-describedby': 'problem'});
  const [line, complain] = problem();
  const content = h('section');
  async function look() {
    complain();
    put(content);
    const id = field.value.trim();
    // A header has no other characters.
    if (/[^\x20-\x7e\xa1-\xff]/.test(id)) {
      complain(t('people.wrong'));
      return;
    }
    try {
      put(content, about(id, await api.dataOf(id), look));
      content.querySelector('h2').focus();
    } catch (error) {
      complain(reason(error));
    }
  }
  return add(h('div', {class: 'people'}), heading(t('people.title')), h('p', {class: 'lead'}, t('people.lead')),
    h('form', {role: 'search', onsubmit: (event) => {
      event.preventDefault();
      look();
    }}, h('label', {for: 'person'}, t('people.id')), field, line,
    h('p', {class: 'actions'}, h('button', {type: 'submit'}, t('agent.look')))), content);
}

/** about is what is kept of a person, and what an operator may do. again looks once more. */
function about(id, {person, stats, answers, subscriptions}, again) {
  if (!stats && answers.length === 0 && subscriptions.length === 0) {
    return h('h2', {class: 'empty', tabindex: '-1'}, t('people.none'));
  }
  const decided = h('div');
  // The export does not say how often operators have decided: what is decided here is, whatever was decided before.
  const one = stats && {person, handle: stats.handle, points: stats.total_points,
    blocked: Boolean(stats.blocked_at), name_reset: Boolean(stats.handle_reset_at)};
  const name = foreign('h2', {class: 'foreign', tabindex: '-1'}, stats?.handle ?? t('people.unnamed'));
  const draw = () => put(decided, decisions(one, (said) => {
    draw();
    name.focus();
    say(said);
  }));
  if (one) draw();
  return [name, stats && h('p', {class: 'facts'}, h('span', null, t('names.points', {n: stats.total_points})),
    h('span', null, t('people.answers', {n: stats.total_answers})),
    stats.updated_at && h('span', null, t('people.last', {ago: ago(stats.updated_at)}))), decided,
  data({
    read: () => copied((cursor) => api.dataOf(id, cursor)),
    async erase() {
      await erased(() => api.deleteDataOf(id));
      await again();
      say(t('people.deleted'));
    },
  })];
}
