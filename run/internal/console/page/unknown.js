// Addresses that lead to nothing.

import {h} from './dom.js';

/** Unknown says that an address names what is not there. */
export class Unknown extends Error {}

/** unknown is a view that says what was asked for and why it is not there, and leads on. */
export function unknown(asked, reason, views) {
  return [
    h('h1', {tabindex: '-1'}, 'Not found'),
    h('p', null, 'The address asks for ', h('code', null, asked), '. ', reason),
    h('p', null, 'These views are there:'),
    h('ul', {'aria-label': 'Views'}, views.map(([href, title]) => h('li', null, h('a', {href}, title)))),
  ];
}
