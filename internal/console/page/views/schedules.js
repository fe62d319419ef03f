// Schedules.

import {at, get, post} from '../api.js';
import {action, h, put, say, table} from '../dom.js';
import {number, short, when} from '../format.js';
import {every} from '../live.js';
import {load, named} from '../names.js';

export const name = 'schedules';
export const title = 'Schedules';

export async function show({signal}) {
  const place = h('div');
  await load();
  const draw = async () => put(place, table({caption: 'Schedules of the run', rows: await get('/schedules', null, signal), empty: 'The assembly has no schedule.', columns: [
    {label: 'Schedule', cell: (one) => named(one.name)},
    {label: 'Now', cell: (one) => action('Run now', async () => {
      try {
        await post(`/schedules${at(one.name)}/run`, {}, signal);
        say(`${one.name} has run`);
      } finally {
        await draw();
      }
    }, {key: `run-${one.name}`})},
    {label: 'When', class: 'nowrap', cell: (one) => [h('code', null, one.expression), one.timezone && ` ${one.timezone}`]},
    {label: 'Function', cell: (one) => named(short(one.target))},
    {label: 'State', cell: (one) => (one.enabled ? h('span', {class: 'badge good'}, 'on') : h('span', {class: 'badge'}, 'off'))},
    {label: 'Next', class: 'nowrap', cell: (one) => when(one.next)},
    {label: 'Last', class: 'nowrap', cell: (one) => when(one.last)},
    {label: 'Ran', number: true, cell: (one) => number(one.fired)},
    {label: 'Outcome', cell: (one) => (one.last_error ? h('span', {class: 'bad'}, one.last_error) : one.dead ? h('span', {class: 'bad'}, `${number(one.dead)} given up`) : '–')},
  ]}));
  await draw();
  every(2500, draw, signal);
  return [h('h1', {tabindex: '-1'}, title), place];
}
