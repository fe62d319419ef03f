// The views that list tasks. A list follows what waits to be sent, and the server when someone comes back to it.

import {go} from '../../../kit/webapp/modules/app.js';
import {add, foreign, h, heading, link, put, say} from '../../../kit/webapp/modules/dom.js';
import {date, day, t, time} from '../../../kit/webapp/modules/texts.js';
import {edit} from './edit.js';
import {focus, letters} from './keys.js';
import {parse} from './line.js';
import {turning} from './midnight.js';
import * as tasks from './tasks.js';

/** place is the address of the list that was shown last. */
export let place = '/';

/** view is the view of one of the lists. */
export const view = (name) => ({show: (context) => show(name, context)});

async function show(name, {parameters, signal}) {
  const q = name === 'all' ? parameters.get('q')?.trim().slice(0, 200) : '';
  const category = name === 'all' && !q ? parameters.get('category') : '';
  place = location.pathname + location.search;
  const list = q ? tasks.search(q) : category ? tasks.labelled(category) : tasks.lists[name];
  const own = q || category ? '' : name;
  let read = null;
  const since = h('p', {class: 'hint'});
  const groups = h('div', {class: 'groups'});
  const below = h('p', {class: 'actions'});
  const rows = new Map();
  let drawn = '';

  async function refresh(from) {
    try {
      read = {...await from(), at: Date.now()};
      if (own) tasks.keepList(own, read.tasks);
      put(since);
    } catch (error) {
      if (read || !error.unknown) throw error;
      read = tasks.kept(own);
      put(since, read.at ? t('list.kept', {at: time(read.at)}) : t('list.unread'), ' ',
        h('button', {type: 'button', class: 'plain', onclick: again}, t('action.again')));
    }
  }

  const again = () => refresh(() => tasks.load(list, signal)).then(draw).catch(() => { /* It stays. */ });

  /** strip says what has just moved, and takes it back. */
  function strip(moving) {
    const n = moving.flatMap(({body}) => body.things).length;
    return n > 0 && h('p', {class: 'notice'}, h('span', null, t('move.said', {n})),
      h('button', {type: 'button', class: 'moves', onclick: () => {
        if (moving.filter(({id}) => tasks.changes.takeBack(id)).length > 0) say(t('undo.said'));
        groups.querySelector('.moves')?.focus();
      }}, t('action.undo')));
  }

  /** mover is the button that moves all that is overdue to today. */
  const mover = () => h('button', {type: 'button', class: 'moves', onclick: () => {
    const late = tasks.shown(read.tasks, list).filter((task) =>
      groupOf(name, task) === 'overdue' && !tasks.leaves(task));
    if (late.length === 0) return;
    tasks.move(late, day());
    say(t('move.said', {n: late.length}));
    groups.querySelector('.moves')?.focus();
  }}, t('move.do'));

  function draw() {
    const shown = tasks.shown(read.tasks, list);
    const named = new Map();
    for (const task of shown) {
      const key = tasks.changes.nameOf(task.task_id), group = groupOf(name, task);
      if (!rows.has(key)) rows.set(key, row(key));
      rows.get(key).update(task);
      named.set(group, [...named.get(group) ?? [], key]);
    }
    put(below, read.more && h('button', {type: 'button', onclick: () =>
      refresh(read.more).then(draw).catch(({kind}) => say(t(`said.${kind}`)))}, t('list.more')));
    const moving = tasks.moving();
    const wanted = JSON.stringify([[...named], moving.map(({id}) => id), Boolean(read.at)]);
    if (wanted === drawn) return;
    drawn = wanted;
    const held = document.activeElement;
    const next = held?.closest('.task')?.nextElementSibling ?? held?.closest('.task')?.previousElementSibling;
    const within = groups.contains(held);
    put(groups, strip(moving), [...named].map(([group, keys]) => [
      group && h('div', {class: 'group'}, h('h2', null, t(`group.${group}`)), group === 'overdue' && mover()),
      h('ul', {class: 'tasks', 'aria-label': t(group ? `group.${group}` : `title.${name}`)},
        keys.map((key) => rows.get(key).item))]),
    shown.length === 0 && read.at && h('p', {class: 'empty'}, q ? t('list.notFound', {q}) : t(`empty.${name}`)));
    // Who was on a task that moved keeps the focus; who was on one that went is on the next.
    if (!within) return;
    if (held.isConnected) held.focus({preventScroll: true});
    else (next?.isConnected ? next.querySelector('a') : document.querySelector('h1')).focus();
  }

  await refresh(() => tasks.load(list, signal));
  tasks.changes.addEventListener('change', draw, {signal});
  addEventListener('online', again, {signal});
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && again(), {signal});
  // What stayed where it was has changed elsewhere.
  tasks.changes.addEventListener('settled', ({detail: {entry}}) => entry.body.kind === 'move' && again(), {signal});
  turning(() => {
    draw();
    document.getElementById('add')?.dispatchEvent(new Event('input'));
    again();
  }, signal);
  draw();
  focus();
  return add(h('div', {class: 'list'}), category
    ? heading(`${t('field.category')}: `, foreign('span', {class: 'foreign'}, category)) : heading(t(`title.${name}`)),
  name === 'all' && searching(q), list.adds && adding(list), since, groups, below);
}

/** groupOf is the part of a list to which a task belongs, or nothing. */
function groupOf(name, {due_date: due}) {
  if (name === 'today') return due < day() ? 'overdue' : 'today';
  return name === 'upcoming' ? (due <= day(7) ? 'week' : 'later') : '';
}

function searching(q) {
  const field = h('input', {id: 'q', type: 'search', value: q ?? '', dir: 'auto', maxlength: 200, autocomplete: 'off',
    'aria-keyshortcuts': letters() && '/'});
  const leave = () => q ? go('/all') : field.blur();
  return h('form', {role: 'search', class: 'line', 'data-escape': true, onescape: leave, onsubmit: (event) => {
    event.preventDefault();
    go(field.value.trim() ? `/all?${new URLSearchParams({q: field.value.trim()})}` : '/all');
  }}, h('label', {for: 'q'}, t('search.label'), keycap('/')), field, h('button', {type: 'submit'}, t('search.do')));
}

/** keycap is the name of a key beside what it does, for people who have a keyboard. */
const keycap = (name) => letters() && h('kbd', {'aria-hidden': 'true'}, name);

/** adding is the line for a new task. What of it is understood stands below it, and each part can be taken back. */
function adding(list) {
  const wrong = h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: true}, t('add.wrong'));
  const chips = h('ul', {class: 'chips', 'aria-label': t('add.understood'), 'aria-live': 'polite'});
  let plain = new Set(), taken = {}, drawn = '';
  const field = h('input', {id: 'add', type: 'text', dir: 'auto', maxlength: '300', autocomplete: 'off',
    enterkeyhint: 'done', 'aria-keyshortcuts': letters() && 'n', 'aria-describedby': 'hint problem',
    oninput: () => { wrong.hidden = true; draw(); }});
  const chip = (kind, name, value, does, action) => h('li', null, h('button', {type: 'button', class: `chip ${kind}`,
    // Who says what they see is understood.
    'aria-label': `${t(`field.${name}`)}: ${value}. ${does}`, onclick: () => { action(); draw(); field.focus(); }},
  h('span', null, `${t(`field.${name}`)}: `), foreign('span', {class: 'foreign'}, value)));

  function draw() {
    const {task, found} = parse(field.value, plain);
    const offers = field.value.trim() ? list.offers?.() ?? {} : {};
    const wanted = JSON.stringify([task, found, offers, taken]);
    if (wanted === drawn) return;
    drawn = wanted;
    put(chips, ['due_date', 'priority', 'category'].map((name) => {
      if (name in found) {
        return chip('understood', name, valueOf(name, task[name]), t('add.takeBack', {text: found[name]}),
          () => plain.add(found[name]));
      }
      if (name in taken) {
        return chip('understood', name, valueOf(name, taken[name]), t('add.leaveOut'), () => delete taken[name]);
      }
      // A list of days, or of a category, has tasks of these alone, so it offers that to a task without.
      return name in offers && chip('offered', name, valueOf(name, offers[name]), t('add.set'),
        () => { taken[name] = offers[name]; });
    }));
  }

  return h('form', {class: 'line', novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    const task = {...taken, ...parse(field.value, plain).task};
    wrong.hidden = Boolean(task.title) && [...task.title].length <= 200;
    if (!wrong.hidden) return;
    field.value = '';
    plain = new Set();
    taken = {};
    draw();
    tasks.add(task);
    if (task.due_date) say(t('add.saidFor', {day: dayName(task.due_date)}));
    else say(t(list.offers?.().due_date ? 'add.saidUndated' : 'add.said'));
  }}, h('label', {for: 'add'}, t('add.label'), keycap('n')), field,
  h('button', {type: 'submit', class: 'primary'}, t('add.do')),
  h('p', {class: 'hint', id: 'hint'}, t('add.hint')), chips, wrong);
}

/** valueOf is what a field of a task says to people. */
function valueOf(name, value) {
  if (name === 'due_date') return dayName(value);
  return name === 'priority' ? t(`priority.${value}`) : value;
}

/** dayName is a day as people say it. */
export function dayName(due) {
  if (due === day()) return t('day.today');
  return due === day(1) ? t('day.tomorrow') : date(`${due}T12:00`);
}

/**
 * row makes the row of a task: it stays the same while the task changes, so that no one loses the focus. key is a name
 * that it has alone.
 */
function row(key) {
  let task, form = null;
  const box = h('input', {type: 'checkbox', onchange: () => {
    if (tasks.leaves(task) && task.takeBack) back();
    else if (tasks.open(task) && !tasks.leaves(task)) tasks.tick(task);
    else box.checked = !box.checked;
  }});
  const title = foreign('span', {class: 'foreign'});
  const to = link('', {class: 'cover'}, title);
  const facts = h('p', {class: 'facts'});
  const undo = h('button', {type: 'button', onclick: () => back()}, t('action.undo'));
  const pen = h('button', {type: 'button', class: 'pen', onclick: () => {
    form = edit(task, ['title', 'due_date', 'priority'], {prefix: `${key}-`, done: close,
      more: link(to.getAttribute('href'), {class: 'button'}, t('edit.more'))});
    item.append(form);
    item.classList.add('edited');
    form.querySelector('input').focus();
  }});
  function close() {
    const within = form.contains(document.activeElement);
    form.remove();
    item.classList.remove('edited');
    if (within) pen.focus();
  }
  const item = h('li', {class: 'task'}, h('label', {class: 'box'}, box), h('div', null, to, facts), undo, pen);
  function back() {
    if (!task.takeBack()) return;
    say(t('undo.said'));
    box.focus();
  }
  return {item, update(now) {
    task = now;
    item.dataset.task = task.task_id;
    const leaves = tasks.leaves(task);
    box.checked = task.status === 'completed' || task.waits === 'tick';
    box.disabled = !tasks.open(task) || task.waits === 'remove' || leaves && !task.takeBack;
    box.setAttribute('aria-label', t('task.tick', {title: task.title}));
    title.textContent = task.title;
    to.setAttribute('href', `/t/${encodeURIComponent(task.task_id)}`);
    item.classList.toggle('leaves', leaves || !tasks.open(task));
    const hidden = !leaves || !task.takeBack;
    if (hidden && document.activeElement === undo) to.focus();
    undo.hidden = hidden;
    pen.hidden = leaves;
    pen.setAttribute('aria-label', t('task.edit', {title: task.title}));
    put(facts,
      task.waits && h('span', {class: 'waits'}, t(`waits.${task.waits}`)),
      task.task_id in tasks.changes.conflicts() && h('span', {class: 'conflict'}, t('task.changed')),
      task.due_date && h('span', {class: tasks.open(task) && task.due_date < day() ? 'overdue' : null},
        dayName(task.due_date)),
      !['pending', 'completed'].includes(task.status) && h('span', null, t(`status.${task.status}`)),
      task.priority && h('span', {class: `priority ${task.priority}`}, t(`priority.${task.priority}`)),
      task.category && link(`/all?${new URLSearchParams({category: task.category})}`, {class: 'category'},
        foreign('span', {class: 'foreign'}, task.category)));
  }};
}
