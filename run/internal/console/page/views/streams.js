// How far the delivery of tables' streams is.

import {get, post} from '../api.js';
import {action, h, put, say, table} from '../dom.js';
import {nanoseconds, number} from '../format.js';
import {every} from '../live.js';
import {load, named} from '../names.js';

export const name = 'streams';
export const title = 'Streams';

export async function show({signal}) {
  const place = h('div');
  await load();
  const draw = async () => put(place, table({
    caption: 'Tables whose changes invoke functions', rows: await get('/streams', null, signal),
      empty: 'No function reads the stream of a table.', columns: [
      {label: 'Table', cell: (one) => named(one.table)},
      {label: 'Function', cell: (one) => named(one.function)},
      {label: 'Read', number: true, cell: (one) => number(one.read)},
      {label: 'Filtered', number: true, cell: (one) => number(one.filtered)},
      {label: 'Waiting', number: true, cell: (one) => number(one.waiting)},
      {label: 'Done', number: true, cell: (one) => number(one.done)},
      {label: 'Given up', number: true, cell: (one) =>
        h('span', {class: one.given_up ? 'bad' : null}, number(one.given_up))},
      {label: 'Invoked', number: true, cell: (one) => number(one.invocations)},
      {label: 'Failed', number: true, cell: (one) =>
        h('span', {class: one.failures ? 'bad' : null}, number(one.failures))},
      {label: 'Lag', number: true, cell: (one) => nanoseconds(one.lag_ns)},
      {label: 'Delay', number: true, cell: (one) =>
        h('span', {title: `longest: ${nanoseconds(one.longest_delay_ns)}`}, nanoseconds(one.last_delay_ns))},
    ]}));
  await draw();
  every(1500, draw, signal);
  return [h('h1', {tabindex: '-1'}, title), h('p', {class: 'muted'},
    'Records that were given up are in a queue, which can deliver them again.'), place,
    h('div', {class: 'bar'}, action('Deliver now', async () => {
      await post('/streams/flush', {}, signal);
      say('All that was written is delivered');
      await draw();
    }, {key: 'flush'}), h('span', {class: 'muted'}, 'without waiting for full batches'))];
}
