// Names that AWS CloudFormation made are long: the stack's name, the construct's path, and a hash. People need the
// middle.

import {h} from './dom.js';
import {get} from './api.js';

let stacks;

/** load reads the names of the stacks, once. */
export async function load() {
  stacks ??= (await get('/outputs')).map((one) => one.stack).sort((a, b) => b.length - a.length);
}

/** stackNames are the names of the stacks. */
export const stackNames = () => stacks.toSorted();

/** stackOf is the stack whose name a name begins with. */
export const stackOf = (name) => stacks?.find((stack) => name.startsWith(`${stack}-`)) ?? '';

/** brief leaves out the stack's name and the hash. */
export function brief(name) {
  const stack = stackOf(name);
  return (stack ? name.slice(stack.length + 1) : name).replace(/(.)(?:[0-9A-F]{8}|[0-9a-f]{8})$/, '$1');
}

/** named shows a brief name, with the whole one as its title. */
export const named = (name) => h('span', {title: name}, brief(name));

/** byStack groups things by the stacks of their names. */
export function byStack(things, nameOf) {
  const groups = new Map();
  for (const thing of things) {
    const stack = stackOf(nameOf(thing));
    if (!groups.has(stack)) groups.set(stack, []);
    groups.get(stack).push(thing);
  }
  return [...groups];
}
