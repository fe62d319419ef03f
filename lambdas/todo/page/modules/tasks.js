// The tasks of a person: what the server has said of them, and what waits on this device to be sent.

import {Changes} from '../../../kit/webapp/modules/changes.js';
import {Problem} from '../../../kit/webapp/modules/requests.js';
import {read, write} from '../../../kit/webapp/modules/store.js';
import {day} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';
import {call, forgetUser, me, own} from './person.js';

const undo = 5_000;

/** most is how many tasks a bulk change has at most. */
const most = 50;

export const open = ({status}) => status === 'pending' || status === 'in_progress';

const find = (text, part) => text?.toLowerCase().includes(part.toLowerCase());

/** lists are what views list: what to ask for, which tasks belong there, and which fields they offer to a new task. */
export const lists = {
  today: {
    ask: () => [{overdue: true}, {due_from: day(), due_to: day()}], adds: true, offers: () => ({due_date: day()}),
    holds: (task) => open(task) && task.due_date && task.due_date <= day(),
  },
  upcoming: {
    ask: () => [{due_from: day(1)}], adds: true, offers: () => ({due_date: day(1)}),
    holds: (task) => open(task) && task.due_date > day(),
  },
  all: {ask: () => [{status: 'pending'}, {status: 'in_progress'}], adds: true, holds: open},
  done: {ask: () => [{status: 'completed'}], holds: ({status}) => status === 'completed'},
};

/** search lists what has a text, of any status. */
export const search = (q) =>
  ({ask: () => [{q}], holds: ({title, description}) => find(title, q) || find(description, q)});

/** labelled lists the open tasks of a category. As for the API, categories that look the same are one. */
export const labelled = (category) => ({
  ask: () => lists.all.ask().map((one) => ({...one, category})), adds: true, offers: () => ({category}),
  holds: (task) => open(task) && task.category?.normalize() === category.normalize(),
});

/** load reads the first pages of a list. more() reads those after, and is null where there are none. */
export async function load(list, signal) {
  let tasks = [];
  const page = async (asked) => {
    const answers = await Promise.all(asked.map((one) =>
      call(operations.listTasks, {limit: 100, ...one}, {signal})));
    tasks = [...tasks, ...answers.flatMap((answer) => answer.tasks)];
    const next = asked.map((one, at) => ({...one, cursor: answers[at].next_cursor})).filter(({cursor}) => cursor);
    return {tasks, more: next.length > 0 ? () => page(next) : null};
  };
  return page(list.ask());
}

/** keepList keeps a list for when there is no network, and kept returns it. */
export const keepList = (name, tasks) => write(own(`list.${name}`), {tasks: tasks.slice(0, 200), at: Date.now()});

const keptLists = () => Object.keys(lists).map((name) => read(own(`list.${name}`))).filter(Boolean);

/**
 * kept returns {tasks, at, more} as load does, of what this device has: a list as it was at a time, or the tasks of all
 * lists that it has, if it never had that one.
 */
export const kept = (name) => ({at: null, tasks: keptLists().flatMap(({tasks}) => tasks), more: null,
  ...(name && read(own(`list.${name}`)))});

/** sends are the requests of changes, by kind. */
const sends = {
  add: ({change}, headers) => call(operations.createTask, {}, {headers, body: change}),
  remove: ({things: [task]}, headers) => call(operations.deleteTask, task, {headers}),
  edit: ({things: [task], change}, headers) => call(operations.changeTask, task, {headers, body: change}),
  async move({things, change}, headers) {
    const {changed} = await call(operations.changeTasks, {}, {headers,
      body: {action: 'move_overdue', task_ids: things.map(({task_id: id}) => id), ...change}});
    return things.filter(({task_id: id}) => changed.includes(id))
      .map((task) => ({...task, ...change, waits: undefined, version: task.version + 1}));
  },
};
sends.tick = sends.edit;

export const changes = new Changes({id: 'task_id', owner: me.name(), shown: ['edit', 'move'],
  async send(body, headers) {
    try {
      return await sends[body.kind](body, headers);
    } catch (error) {
      if (error.kind !== 'gone' || !['add', 'move'].includes(body.kind)) throw error;
      // There is no user any more: the change waits until there is one.
      forgetUser();
      throw new Problem('signedOut', error);
    }
  }});

export const add = (fields) => changes.add(fields, {description: null, status: 'pending', priority: null,
  category: null, due_date: null, created_at: new Date().toISOString(), completed_at: null});

/** tick completes a task, and remove deletes it; both can be taken back for a moment. */
export const tick = (task) => changes.make('tick', task, {status: 'completed'}, {undo});

export const remove = (task) => changes.make('remove', task, null, {undo});

/** move gives tasks another due date, which can be taken back for a moment. */
export function move(all, due) {
  for (let at = 0; at < all.length; at += most) changes.make('move', all.slice(at, at + most), {due_date: due}, {undo});
}

/** moving are the entries of tasks that move and can still be taken back. */
export const moving = () => changes.waiting().filter(({attempted, body}) => body.kind === 'move' && !attempted);

/** leaves reports whether a task is ticked or deleted. It stays where it is until that is sent. */
export const leaves = ({waits}) => waits === 'tick' || waits === 'remove';

const order = (one, other) => (one.due_date ?? '9').localeCompare(other.due_date ?? '9') ||
  other.created_at.localeCompare(one.created_at);

/** shown are the tasks of a list, as the person sees them. */
export const shown = (tasks, {holds}) => [...changes.merged(tasks).values()].filter(holds).sort(order);

/** one returns a task as the person sees it, from the server if there is a network. */
export async function one(id, signal) {
  const cached = kept().tasks.filter(({task_id: of}) => of === id);
  let answered = [];
  if (!id.startsWith('new-')) {
    try {
      answered = [await call(operations.readTask, {task_id: id}, {signal})];
    } catch (error) {
      if (error.kind !== 'offline' || !changes.merged(cached).has(id)) throw error;
    }
  }
  const found = changes.merged([...cached, ...answered]).get(id);
  if (!found) throw new Problem('gone');
  return found;
}
