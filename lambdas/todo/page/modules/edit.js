// The form of a task, in its own view and in its row of a list.

import {h} from '../../../kit/webapp/modules/dom.js';
import {problem} from '../../../kit/webapp/modules/forms.js';
import {draft, dropDraft, keepDraft} from '../../../kit/webapp/modules/store.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import {priorities} from './line.js';
import {own} from './person.js';
import {changes} from './tasks.js';

/** fields are those of a task that people write, in their order. */
export const fields = ['title', 'due_date', 'priority', 'category', 'status', 'description'];

/** control makes the control of a field. */
function control(name, value, id, {status}) {
  const texts = {id, value: value ?? '', dir: 'auto'};
  const select = (all) => h('select', {id}, all.map((one) =>
    h('option', {value: one, selected: one === (value ?? '')}, one ? t(`${name}.${one}`) : t('field.none'))));
  switch (name) {
    case 'due_date':
      return h('input', {...texts, type: 'date'});
    case 'priority':
      return select(['', ...priorities]);
    case 'status':
      return select(status === 'completed' ? [status] : ['pending', 'in_progress', 'completed', 'cancelled']);
    case 'description':
      return h('textarea', {...texts, rows: '5', maxlength: '1000'});
  }
  return h('input', {...texts, type: 'text', maxlength: name === 'title' ? '200' : '50',
    'aria-describedby': name === 'title' ? `${id}-problem` : null});
}

/**
 * edit is a form of some fields of a task. What is written stays on this device until it is saved, or dropped by
 * Cancel; it is saved as a change of the version that was seen. prefix begins the ids of the controls. done is called
 * when the form should go; more are further actions.
 */
export function edit(task, names, {prefix = '', done, more = null}) {
  const key = own(`task.${changes.nameOf(task.task_id)}`);
  const {version, values} = {version: task.version, values: {}, ...draft(key)};
  const [line, wrong] = problem(`${prefix}title-problem`);
  const drop = () => {
    dropDraft(key);
    done();
  };
  return h('form', {class: 'edit', novalidate: true, 'data-escape': true, onescape: done, onsubmit: (event) => {
    event.preventDefault();
    const change = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value || null])
      .filter(([name, value]) => value !== task[name]));
    if ('title' in change && !change.title?.trim()) {
      wrong(t('add.wrong'));
      document.getElementById(`${prefix}title`).focus();
      return;
    }
    if (Object.keys(change).length > 0) changes.edit({...task, version: version || task.version}, change);
    drop();
  }}, names.map((name) => {
    const id = prefix + name, element = control(name, name in values ? values[name] : task[name], id, task);
    element.addEventListener('input', () => {
      values[name] = element.value;
      keepDraft(key, {version, values});
    });
    return h('div', {class: name}, h('label', {for: id}, t(`field.${name}`)), element, name === 'title' && line);
  }), h('p', {class: 'actions'}, h('button', {type: 'submit', class: 'primary'}, t('edit.save')),
    h('button', {type: 'button', onclick: drop}, t('action.cancel')), more));
}
