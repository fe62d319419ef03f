// What requests used, and would cost in AWS.

import {at, get} from '../api.js';
import {chips, field, h, put, select, table} from '../dom.js';
import {dollars, money, number, plural, took} from '../format.js';
import {every} from '../live.js';
import {brief, load, stackNames} from '../names.js';

export const name = 'costs';
export const title = 'Cost';

// Which figures the tables have: of one request, of the dearest, or of all.
const figures = {
  mean: ['Mean', 'Units of one request, and the cost of a million of them.'],
  p95: ['95th percentile', 'One request in twenty uses more than this.'],
  sum: ['Sum', 'Units and cost of all requests that the run keeps.'],
};

const costs = [['DynamoDB', 'dynamodb'], ['Lambda', 'lambda'], ['API Gateway', 'api_gateway'], ['Logs', 'logs']];

const columnsOf = (figure, what, counted, nameOf) => [
  {label: what, cell: nameOf},
  {label: counted, number: true, cell: (row) => number(row.requests)},
  {label: 'Read units', number: true, class: 'roomy', cell: ({[figure]: of}) => number(of.read_units)},
  {label: 'Write units', number: true, class: 'roomy', cell: ({[figure]: of}) => number(of.write_units)},
  {label: 'Took', number: true, class: 'roomy', cell: ({[figure]: of}) => took(of.took_ms)},
  ...(figure === 'sum' ? [] : costs).map(([label, part]) =>
    ({label, number: true, class: 'roomy', cell: ({[figure]: of}) => money(of[part])})),
  {label: figure === 'sum' ? 'Together' : 'A million', number: true,
    cell: ({[figure]: of}) => h('strong', null, (figure === 'sum' ? dollars : money)(of.total))},
];

function causeOf(row) {
  const requests = `#/requests?${new URLSearchParams({...(row.name ? {search: row.name} : {only: '4xx'}),
    ...(row.stack && {stack: row.stack})})}`;
  const [, method, path] = row.kind === 'http' && row.name.match(/^(\S+) (\/.*)$/) ||
    [null, row.kind, brief(row.name) || 'no route'];
  return h('a', {class: 'request', href: requests, title: row.api ?? row.stack, 'data-key': `${row.kind} ${row.name}`},
    h('span', {class: 'method'}, method), ' ', h('span', {class: 'path'}, path));
}

const functionOf = (row) => h('a', {href: `#/functions${at(row.name)}`, title: row.name, 'data-key': row.name},
  row.label || row.name);

export async function show({parameters, signal, go}) {
  await load();
  let stack = parameters.get('stack') ?? '';
  let figure = parameters.get('figure') in figures ? parameters.get('figure') : 'mean';
  const place = h('div');
  const said = h('p', {class: 'muted'});
  let seen = '';
  const draw = async () => {
    const {requests, causes, functions} = await get('/costs', {stack}, signal);
    const text = JSON.stringify([figure, requests, causes, functions]);
    if (text === seen) return;
    seen = text;
    put(said, figures[figure][1], ' List prices of us-east-1, without the free tier; storage, streams and transfer ',
      `come on top. Of the newest ${plural(requests, 'request')}.`);
    put(place,
      table({caption: 'Routes, schedules and all else that causes requests', rows: causes, class: 'causes',
        empty: 'No request yet. Send one to an API: the view Platforms has the addresses.',
        columns: columnsOf(figure, 'Cause', 'Requests', causeOf)}),
      functions.length > 0 && table({caption: 'Functions, each with what it used itself', rows: functions,
        class: 'causes', columns: columnsOf(figure, 'Function', 'Invocations', functionOf)
          .filter(({label}) => label !== 'API Gateway' && label !== 'Logs')}));
  };
  const remember = () => {
    const asked = new URLSearchParams({...(stack && {stack}), ...(figure !== 'mean' && {figure})});
    go(`#/costs${asked.size > 0 ? `?${asked}` : ''}`, {replace: true});
    return draw();
  };
  const wanted = select(Object.entries(figures).map(([key, [label]]) => [key, label]), figure, {onchange: () => {
    figure = wanted.value;
    remember();
  }});
  await draw();
  every(2000, draw, signal);
  return [
    h('h1', {tabindex: '-1'}, title),
    h('div', {class: 'bar'},
      field('Figures', wanted),
      chips('Platform', stackNames().map((one) => [one, one]), stack, (value) => {
        stack = value;
        remember();
      })),
    said, place,
  ];
}
