// Telling an operator that a question, or someone's name, should not be here.

import * as api from './api.js';
import {h, put} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';

const reasons = ['spam', 'abuse', 'personal_data', 'illegal', 'other'];

/**
 * form is a form for a report. about returns the fields of what is reported, and text what a reason is called. first
 * are the form's first fields, and done is called when the report was sent; by default the form says so.
 */
export function form(about, text, {first = [], done = null} = {}) {
  const reason = h('select', {id: 'reason'}, reasons.map((one) => h('option', {value: one}, text(one))));
  const comment = h('textarea', {id: 'comment', rows: '3', maxlength: '500', dir: 'auto'});
  const said = h('p', {role: 'status'});
  const send = h('button', {type: 'submit'}, t('report.send'));
  return h('form', {
    class: 'reporting',
    onsubmit: async (event) => {
      event.preventDefault();
      send.disabled = true;
      try {
        const words = comment.value.trim();
        await api.report({...about(), reason: reason.value, ...(words && {comment: words})});
        if (done) done();
        else put(event.target, h('p', {role: 'status', tabindex: '-1'}, t('report.thanks'))).firstChild.focus();
      } catch (error) {
        said.textContent = t(`said.${error.kind}`);
        send.disabled = false;
      }
    },
  },
  first, h('label', {for: 'reason'}, t('report.reason')), reason,
  h('label', {for: 'comment'}, t('report.comment')), comment,
  h('p', {class: 'actions'}, send), said);
}
