// Lists that the API returns by pages. A page is {items, next}: next is the cursor of the one after it, if any.

import {add, h, put, say} from './dom.js';
import {t} from './texts.js';

/** all returns the items of all pages. read returns the page of a cursor; the first one has none. */
export async function all(read) {
  const items = [];
  for (let page = {next: undefined}, first = true; first || page.next; first = false) {
    page = await read(page.next);
    items.push(...page.items);
  }
  return items;
}

/** pages returns a list of the first page, to which people add the others. row draws an item, and empty says none. */
export async function pages(read, row, {label, empty}) {
  const list = h('ul', {class: 'cards', 'aria-label': label});
  const below = h('p', {class: 'actions'});
  async function draw(cursor) {
    const {items, next} = await read(cursor);
    add(list, items.map(row));
    below.hidden = !next;
    put(below, next && h('button', {type: 'button', onclick: () =>
      draw(next).catch(({kind}) => say(t(`said.${kind}`)))}, t('list.more')));
  }
  await draw();
  return list.firstChild ? [list, below] : h('p', {class: 'empty'}, empty);
}
