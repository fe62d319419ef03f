// An item as people see and change it.

import {at} from './api.js';
import {action, copy, h, problem, put} from './dom.js';
import {cut, moment} from './format.js';
import {exact, plain, typed, value} from './item.js';

/** timeOf is the time that a number of an item means, if the table says that it is one. */
export function timeOf(table, item, attribute) {
  const seconds = item[attribute]?.N;
  return seconds !== undefined && table.times?.includes(attribute) ? moment(seconds) : null;
}

/** nameOf is the key of an item in a line. */
export const nameOf = (table, item) => table.keys.map((key) => cut(value(item[key.attribute]), 60)).join(' / ');

/** addressOf is the address of the view of an item. */
export function addressOf(table, item) {
  const key = Object.fromEntries(table.keys.map(({attribute}) => [attribute, item[attribute]]));
  return `#/tables${at(table.name)}/item?${new URLSearchParams({stack: table.stack, key: JSON.stringify(key)})}`;
}

/** link is the whole address of the view of an item, for others of this machine. */
export const link = (table, item) => `${location.origin}/${addressOf(table, item)}`;

/**
 * editor is the content of a dialog or view with an item, or with a new one if it is null. write(was, item) changes it,
 * and throws why it did not. buttons come before the last one.
 */
export function editor(table, item, {write, buttons}) {
  const faults = h('div', {'aria-live': 'assertive'});
  const text = h('textarea', {spellcheck: 'false', 'aria-label': 'Item as JSON'});
  const safe = item === null || exact(item);
  const types = h('input', {type: 'checkbox'});
  types.checked = !safe;
  types.disabled = !safe;
  const fill = (of) => { text.value = JSON.stringify(types.checked ? of : plain(of), null, 2); };
  const current = () => {
    const document = JSON.parse(text.value);
    if (document !== null && typeof document === 'object' && !Array.isArray(document)) return document;
    throw new Error('An item is an object: {"attribute": "value"}.');
  };
  types.addEventListener('change', () => {
    // The box has changed already: the text is still in the other form.
    try {
      fill(types.checked ? typed(current()) : current());
      put(faults);
    } catch (error) {
      types.checked = !types.checked;
      put(faults, problem(error, 'The text is not an item.'));
    }
  });
  fill(item ?? Object.fromEntries(table.keys.map((key) => [key.attribute, {[key.type]: ''}])));
  const attempt = (work) => async () => {
    try {
      await work();
    } catch (error) {
      if (error.name === 'AbortError') return;
      put(faults, problem(error, error instanceof SyntaxError ? 'The text is not JSON.' : 'Nothing was changed.'));
    }
  };
  const times = Object.keys(item ?? {}).map((attribute) => [attribute, timeOf(table, item, attribute)]);
  requestAnimationFrame(() => {
    text.setSelectionRange(0, 0);
    text.scrollTop = 0;
  });
  return [
    text,
    h('dl', null, times.map(([attribute, time]) => time && [h('dt', null, attribute), h('dd', null, time)])),
    faults,
    h('label', {class: 'check'}, types, safe ? 'With types, as DynamoDB has them'
      : 'With types: the item has sets, bytes or large numbers, which plain JSON cannot hold'),
    h('div', {class: 'bar end'},
      item !== null && action('Delete', attempt(() => write(item, null)), {sure: 'Delete the item?', kind: 'danger'}),
      copy(() => text.value), item !== null && copy(() => link(table, item), 'Copy link'), buttons,
      action(item === null ? 'Add' : 'Save',
        attempt(() => write(item, types.checked ? current() : typed(current()))), {kind: 'primary'})),
  ];
}
