// One task, to be edited. If someone has changed it elsewhere meanwhile, both versions are there to choose from.

import {go} from '../../../kit/webapp/modules/app.js';
import {add, foreign, h, heading} from '../../../kit/webapp/modules/dom.js';
import {state} from '../../../kit/webapp/modules/states.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import {edit, fields} from './edit.js';
import {dayName, place} from './list.js';
import * as tasks from './tasks.js';

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

const form = (task) => [heading(t('edit.title')), edit(task, fields, {done: back, more: h('button', {
  type: 'button', class: 'danger', onclick: () => {
    tasks.remove(task);
    back();
  }}, t('edit.remove'))})];

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
