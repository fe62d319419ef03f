// One task, to be edited. If someone has changed it elsewhere meanwhile, both versions are there to choose from.

import {go} from '../../../kit/webapp/modules/app.js';
import {add, foreign, h, heading, link} from '../../../kit/webapp/modules/dom.js';
import {state} from '../../../kit/webapp/modules/states.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import {priorities} from './line.js';
import {dayName, place} from './list.js';
import * as tasks from './tasks.js';

const fields = ['title', 'due_date', 'priority', 'category', 'status', 'description'];

export async function show({parts: [given], signal}) {
  const id = tasks.changes.idOf(given);
  const conflict = tasks.changes.conflicts()[id];
  let task;
  try {
    task = await tasks.one(id, signal);
  } catch (error) {
    if (error.kind !== 'gone' || !conflict) throw error;
    tasks.changes.settle(id);
    return state('gone', {more: version('mine', {title: conflict.title, ...conflict.change})});
  }
  return conflict ? choice(task, conflict.change) : form(task);
}

const back = () => go(place);

function form(task) {
  const values = {};
  const input = (name, element) => {
    element.id = name;
    element.addEventListener('input', () => { values[name] = element.value; });
    return [h('label', {for: name}, t(`field.${name}`)), element];
  };
  const select = (name, all) => input(name, h('select', null, all.map((one) =>
    h('option', {value: one, selected: one === (task[name] ?? '')}, one ? t(`${name}.${one}`) : t('field.none')))));
  const wrong = h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: true}, t('add.wrong'));
  const statuses = task.status === 'completed' ? ['completed'] : ['pending', 'in_progress', 'completed', 'cancelled'];
  return h('form', {class: 'edit', novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    const change = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value || null])
      .filter(([name, value]) => value !== task[name]));
    wrong.hidden = !('title' in change) || Boolean(change.title?.trim());
    if (!wrong.hidden) {
      document.getElementById('title').focus();
      return;
    }
    if (Object.keys(change).length > 0) tasks.changes.edit(task, change);
    back();
  }}, heading(t('edit.title')),
  input('title', h('input', {type: 'text', value: task.title, maxlength: 200, dir: 'auto',
    'aria-describedby': 'problem'})), wrong,
  input('due_date', h('input', {type: 'date', value: task.due_date ?? ''})),
  select('priority', ['', ...priorities]),
  input('category', h('input', {type: 'text', value: task.category ?? '', maxlength: '50', dir: 'auto'})),
  select('status', statuses),
  input('description', h('textarea', {rows: '5', value: task.description ?? '', maxlength: '1000', dir: 'auto'})),
  h('p', {class: 'actions'}, h('button', {type: 'submit', class: 'primary'}, t('edit.save')),
    link(place, {class: 'button'}, t('action.cancel')),
    h('button', {type: 'button', class: 'danger', onclick: () => {
      tasks.remove(task);
      back();
    }}, t('edit.remove'))));
}

/** choice lets the person choose between their change and what the task is now. */
function choice(task, change) {
  const settle = (mine) => {
    tasks.changes.settle(task.task_id);
    if (mine) tasks.changes.edit(task, change);
    back();
  };
  const differs = (of) => Object.fromEntries(fields.filter((name) => name in change).map((name) => [name, of[name]]));
  return add(h('section', {'data-state': 'changed'}), heading(t('changed.title')), h('p', null, t('changed.text')),
    h('p', {class: 'lead'}, foreign('span', {class: 'foreign'}, task.title)),
    h('div', {class: 'versions'}, version('mine', differs(change)), version('theirs', differs(task))),
    h('p', {class: 'actions'},
      h('button', {type: 'button', class: 'primary', onclick: () => settle(true)}, t('changed.takeMine')),
      h('button', {type: 'button', onclick: () => settle(false)}, t('changed.takeTheirs'))));
}

function version(whose, of) {
  return h('section', {class: 'version', 'data-version': whose}, h('h2', null, t(`changed.${whose}`)), h('dl', null,
    Object.entries(of).map(([name, value]) => [h('dt', null, t(`field.${name}`)),
      foreign('dd', {class: 'foreign'}, said(name, value))])));
}

function said(name, value) {
  if (!value) return t('field.none');
  if (name === 'due_date') return dayName(value);
  return name === 'priority' || name === 'status' ? t(`${name}.${value}`) : value;
}
