// The tasks of a person: what the server has said of them, and what waits on this device to be sent.

import {Changes} from '../../../kit/webapp/modules/changes.js';
import {Problem} from '../../../kit/webapp/modules/requests.js';
import {read, write} from '../../../kit/webapp/modules/store.js';
import {day} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';
import {call, forgetUser, me, own} from './person.js';

const undo = 5_000;

export const open = ({status}) => status === 'pending' || status === 'in_progress';

const find = (text, part) => text?.toLowerCase().includes(part.toLowerCase());

/** lists are what views list: what to ask for, which tasks belong there, and which day they offer to a new task. */
export const lists = {
  today: {
    ask: () => [{overdue: true}, {due_from: day(), due_to: day()}], adds: true, due: () => day(),
    holds: (task) => open(task) && task.due_date && task.due_date <= day(),
  },
  upcoming: {
    ask: () => [{due_from: day(1)}], adds: true, due: () => day(1),
    holds: (task) => open(task) && task.due_date > day(),
  },
  all: {ask: () => [{status: 'pending'}, {status: 'in_progress'}], adds: true, holds: open},
  done: {ask: () => [{status: 'completed'}], holds: ({status}) => status === 'completed'},
};

/** search lists what has a text, of any status. */
export const search = (q) =>
  ({ask: () => [{q}], holds: ({title, description}) => find(title, q) || find(description, q)});

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

export const kept = (name) => read(own(`list.${name}`));

export const changes = new Changes({id: 'task_id', owner: me.name(), async send({kind, thing: task, change}, headers) {
  if (kind === 'remove') return call(operations.deleteTask, task, {headers});
  if (kind !== 'add') return call(operations.changeTask, task, {headers, body: change});
  try {
    return await call(operations.createTask, {}, {headers, body: change});
  } catch (error) {
    if (error.kind !== 'gone') throw error;
    // There is no user any more: the task waits until there is one.
    forgetUser();
    throw new Problem('signedOut', error);
  }
}});

export const add = (fields) => changes.add(fields, {description: null, status: 'pending', priority: null,
  category: null, due_date: null, created_at: new Date().toISOString(), completed_at: null});

/** tick completes a task, and remove deletes it; both can be taken back for a moment. */
export const tick = (task) => changes.make('tick', task, {status: 'completed'}, {undo});

export const remove = (task) => changes.make('remove', task, null, {undo});

/** leaves reports whether a task is ticked or deleted. It stays where it is until that is sent. */
export const leaves = ({waits}) => waits === 'tick' || waits === 'remove';

const order = (one, other) => (one.due_date ?? '9').localeCompare(other.due_date ?? '9') ||
  other.created_at.localeCompare(one.created_at);

/** shown are the tasks of a list, as the person sees them. */
export const shown = (tasks, {holds}) => [...changes.merged(tasks).values()].filter(holds).sort(order);

/** one returns a task as the person sees it, from the server if there is a network. */
export async function one(id, signal) {
  const cached = Object.keys(lists).flatMap((name) => kept(name)?.tasks ?? []).filter(({task_id: of}) => of === id);
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
