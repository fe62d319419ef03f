// Telling an operator that a question should not be here.

import * as api from './api.js';
import {h, put} from '../../../kit/webapp/modules/dom.js';
import {pass} from './answers.js';
import {t} from '../../../kit/webapp/modules/texts.js';

const reasons = ['spam', 'abuse', 'personal_data', 'illegal', 'other'];

export function form(id) {
  const reason = h('select', {id: 'reason'}, reasons.map((one) => h('option', {value: one}, t(`report.${one}`))));
  const comment = h('textarea', {id: 'comment', rows: '3', maxlength: '500', dir: 'auto'});
  const said = h('p', {role: 'status'});
  const send = h('button', {type: 'submit'}, t('report.send'));
  return h('form', {
    class: 'reporting',
    onsubmit: async (event) => {
      event.preventDefault();
      send.disabled = true;
      try {
        const text = comment.value.trim();
        await api.report({question_id: id, reason: reason.value, ...(text && {comment: text})});
        pass(id);
        put(event.target, h('p', {role: 'status', tabindex: '-1'}, t('report.thanks'))).firstChild.focus();
      } catch (error) {
        said.textContent = t(`said.${error.kind}`);
        send.disabled = false;
      }
    },
  },
  h('label', {for: 'reason'}, t('report.reason')), reason,
  h('label', {for: 'comment'}, t('report.comment')), comment,
  h('p', {class: 'actions'}, send), said);
}
