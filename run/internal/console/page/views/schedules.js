// Schedules.

import {at, get, post} from '../api.js';
import {action, h, put, say, table} from '../dom.js';
import {cut, number, short, when} from '../format.js';
import {every} from '../live.js';
import {load, named} from '../names.js';

export const name = 'schedules';
export const title = 'Schedules';

/** failed is a line about a schedule whose newest event failed, which leads to its trace. */
function failed({name: schedule, failure}) {
  const error = cut(failure.error, 160);
  return h('li', null, named(schedule), ' failed at ', when(failure.at), ': ', failure.request
    ? h('a', {class: 'bad', href: `#/requests${at(failure.request)}`}, error) : h('span', {class: 'bad'}, error));
}

const outcome = ({failure, dead}) => (dead ? h('span', {class: 'bad'}, `${number(dead)} given up`)
  : failure ? h('span', {class: 'badge bad'}, 'failed') : '–');

export async function show({signal}) {
  const place = h('div');
  await load();
  const draw = async () => {
    const rows = await get('/schedules', null, signal);
    const failures = rows.filter((one) => one.failure);
    put(place,
      failures.length > 0 && h('ul', {class: 'plain', 'aria-label': 'Failures'}, failures.map(failed)), list(rows));
  };
  const empty = 'The assembly has no schedule.';
  const list = (rows) => table({caption: 'Schedules of the run', rows, empty, columns: [
    {label: 'Schedule', cell: (one) => named(one.name)},
    {label: 'Now', cell: (one) => action('Run now', async () => {
      try {
        await post(`/schedules${at(one.name)}/run`, {}, signal);
        say(`${one.name} has run`);
      } finally {
        await draw();
      }
    }, {key: `run-${one.name}`})},
    {label: 'When', class: 'nowrap', cell: (one) =>
      [h('code', null, one.expression), one.timezone && ` ${one.timezone}`]},
    {label: 'Function', cell: (one) => named(short(one.target))},
    {label: 'State', cell: (one) => (one.enabled ? h('span', {class: 'badge good'}, 'on')
      : h('span', {class: 'badge'}, 'off'))},
    {label: 'Next', class: 'nowrap', cell: (one) => when(one.next)},
    {label: 'Last', class: 'nowrap', cell: (one) => when(one.last)},
    {label: 'Ran', number: true, cell: (one) => number(one.fired)},
    {label: 'Outcome', cell: outcome},
  ]});
  await draw();
  every(2500, draw, signal);
  return [h('h1', {tabindex: '-1'}, title), place];
}
