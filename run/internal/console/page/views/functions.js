// Functions: figures, instances, lines, and levers.

import {at, get, post} from '../api.js';
import {action, field, h, pre, problem, put, say, table} from '../dom.js';
import {bytesOf, money, number, plural, pretty, took} from '../format.js';
import {lines} from '../lines.js';
import {every} from '../live.js';
import {byStack, load} from '../names.js';
import {Unknown} from '../unknown.js';

export const name = 'functions';
export const title = 'Functions';
export const parts = 1;

const mostLines = 200;

export async function show(context) {
  return context.parts.length > 0 ? one(context) : list(context);
}

async function list({signal}) {
  const place = h('div');
  await load();
  const draw = async () => {
    const [functions, costs] = await Promise.all([get('/functions', null, signal), get('/costs', null, signal)]);
    const costOf = new Map(costs.functions.map((one) => [one.name, one.mean.total]));
    put(place, byStack(functions, (f) => f.name)
      .map(([stack, own]) => table({caption: stack || 'Functions', rows: own, class: 'even', columns: [
      {label: 'Function', cell: (f) => h('a', {href: `#/functions${at(f.name)}`, 'data-key': f.name, title: f.name},
        f.label || f.name)},
      {label: 'Invocations', number: true, cell: (f) => number(f.invocations)},
      {label: 'Errors', number: true, cell: (f) => h('span', {class: f.errors ? 'bad' : null}, number(f.errors))},
      {label: 'Time-outs', number: true, cell: (f) =>
        h('span', {class: f.timeouts ? 'bad' : null}, number(f.timeouts))},
      {label: 'Throttled', number: true, cell: (f) => number(f.throttles)},
      {label: 'Cold starts', number: true, cell: (f) => number(f.cold_starts)},
      {label: 'Mean', number: true, cell: (f) => (f.mean_ms ? took(f.mean_ms) : '–')},
      {label: 'A million', number: true, cell: (f) => money(costOf.get(f.name))},
      {label: 'Instances', number: true, cell: (f) =>
        `${f.instances.filter((instance) => instance.busy).length} busy of ${f.instances.length}`},
    ]})), functions.length === 0 && h('p', {class: 'empty'}, 'The assembly has no function.'));
  };
  await draw();
  every(2000, draw, signal);
  return [h('h1', {tabindex: '-1'}, title), h('p', {class: 'muted'}, 'Figures since the start of the run. A million ',
    'invocations would cost this much in AWS: ', h('a', {href: '#/costs'}, 'Cost'), ' has the parts.'), place];
}

async function one({parts, signal}) {
  const [wanted] = parts;
  const figures = h('div');
  const heading = h('h1', {tabindex: '-1'}, wanted);
  const requests = h('a', null, 'Requests');
  const written = h('div');
  const path = `/functions${at(wanted)}`;
  const draw = async () => {
    const [all, costs] = await Promise.all([get('/functions', null, signal), get('/costs', null, signal)]);
    const f = all.find((other) => other.name === wanted);
    if (!f) throw new Unknown(`This run has no function ${wanted}.`);
    heading.textContent = f.label || f.name;
    requests.href = `#/requests?search=${encodeURIComponent(f.label || f.name)}`;
    put(figures,
      h('p', {class: 'muted'}, h('code', null, f.arn)),
      h('dl', {class: 'figures'}, [['Invocations', f.invocations], ['Errors', f.errors], ['Time-outs', f.timeouts],
        ['Throttled', f.throttles], ['Queued', f.queued], ['Deaths', f.deaths]]
        .map(([label, value]) => h('div', null, h('dt', null, label), h('dd', null, number(value)))),
      h('div', null, h('dt', null, 'Cost of a million in AWS'),
        h('dd', null, money(costs.functions.find((other) => other.name === wanted)?.mean.total)))),
      table({caption: `Instances, at most ${f.max_instances}`, rows: f.instances,
        empty: 'No instance runs. The next invocation starts one.', columns: [
        {label: 'Process', cell: (i) => i.pid},
          {label: 'State', cell: (i) => h('span', {class: `badge ${i.busy ? 'warn' : 'good'}`}, i.busy ? 'busy'
            : i.ready ? 'ready' : 'starting')},
        {label: 'Invocations', number: true, cell: (i) => number(i.invocations)},
          {label: 'Start', number: true, cell: (i) => took(i.init_ms)},
        {label: 'Memory', number: true, cell: (i) => (i.rss_bytes ? bytesOf(i.rss_bytes) : '–')}]}));
  };
  let seen = '';
  const read = async () => {
    const newest = await get('/lines', {function: wanted, limit: mostLines}, signal);
    const text = JSON.stringify(newest);
    if (text === seen) return;
    seen = text;
    put(written, lines(newest));
  };
  const variables = h('details');
  const readVariables = async () => {
    const all = await get(`${path}/environment`, null, signal);
    put(variables, h('summary', null, `Environment: ${plural(all.length, 'variable')}`),
      table({caption: 'Variables', rows: all, empty: 'The function has no variable of its own.', columns: [
        {label: 'Name', cell: (one) => h('code', null, one.name)},
        {label: 'Value', cell: (one) => (one.hidden ? h('span', {class: 'muted'}, 'a secret, not shown')
          : h('code', null, one.value))},
      ]}));
  };
  await Promise.all([draw(), read(), readVariables()]);
  every(2000, () => Promise.all([draw(), read()]), signal);

  const event = h('textarea', {rows: '6', spellcheck: 'false', 'aria-label': 'Event as JSON', value: '{}'});
  const answer = h('div', {'aria-live': 'polite'});
  const form = h('form', {onsubmit: async (submitted) => {
    submitted.preventDefault();
    put(answer, h('p', {class: 'muted'}, 'The function works …'));
    try {
      const result = await post(`${path}/invoke`, event.value, signal);
      put(answer, result.function_error && h('p', {class: 'bad'}, `It failed: ${result.function_error}`),
        pre('Answer', pretty(result.payload)));
    } catch (error) {
      if (error.name !== 'AbortError') put(answer, problem(error));
    }
    await Promise.all([draw(), read()]);
  }}, field('Event, past all roles', event, 'wide'), h('button', {class: 'primary'}, 'Invoke'));

  return [
    h('ol', {class: 'crumbs', 'aria-label': 'Place'}, h('li', null, h('a', {href: '#/functions'}, 'Functions')),
      h('li', null, wanted)),
    heading, figures,
    h('div', {class: 'bar'}, action('Kill an instance', async () => {
      const killed = await post(`${path}/kill`, {});
      say(`Process ${killed.killed} is killed`);
      await draw();
    }, {sure: 'Kill it?', kind: 'danger', key: 'kill'}),
      h('a', {href: `#/permissions?function=${encodeURIComponent(wanted)}`}, 'Permissions'), requests),
    variables,
    h('h2', null, 'Invoke'), h('div', {class: 'card'}, form, answer),
    h('h2', null, 'Newest log lines'), written,
  ];
}
