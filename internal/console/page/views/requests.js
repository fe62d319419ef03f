// Requests as they come, and what each did.

import {at, get} from '../api.js';
import {action, copy, field, h, head, put, rowOf, scroll, table} from '../dom.js';
import {clock, money, number, plural, pretty, status, took, when} from '../format.js';
import {lines} from '../lines.js';
import {on} from '../live.js';
import {brief, load as loadNames} from '../names.js';

export const name = 'requests';
export const title = 'Requests';

// The list never has more rows than this: the oldest leave it.
const most = 300;
const page = 100;

export async function show(context) {
  return context.parts.length > 0 ? trace(context) : list(context);
}

const columns = [
  {label: 'Time', class: 'nowrap', cell: (one) => when(one.at)},
  {label: 'Request', cell: (one) => h('a', {class: 'request', href: `#/requests${at(one.id)}`, 'data-key': `r${one.seq}`}, ...nameOf(one))},
  {label: 'Status', cell: (one) => outcome(one)},
  {label: 'Took', number: true, cell: (one) => (one.running ? '…' : took(one.took_ms))},
  {label: 'Reads', class: 'roomy', number: true, cell: (one) => (one.reads ? h('span', {title: `${number(one.read_units)} units`}, number(one.reads)) : '')},
  {label: 'Writes', class: 'roomy', number: true, cell: (one) => (one.writes ? h('span', {title: `${number(one.write_units)} units`}, number(one.writes)) : '')},
  {label: 'Functions', class: 'roomy', cell: (one) => [(one.functions ?? []).join(', '), one.cold_start && [' ', h('span', {class: 'badge warn'}, 'cold')]]},
];

function nameOf(one) {
  if (one.kind === 'http') return [h('span', {class: 'method'}, one.method), ' ', h('span', {class: 'path'}, one.path)];
  return [h('span', {class: 'method'}, one.kind), ' ', h('span', {class: 'path'}, brief(one.path || one.route || (one.functions ?? []).join(', ') || one.id))];
}

function outcome(one) {
  if (one.running) return h('span', {class: 'badge'}, 'running');
  if (one.kind === 'http') return status(one.status);
  return one.error ? h('span', {class: 'badge bad'}, 'failed') : h('span', {class: 'badge good'}, 'done');
}

function matches(one, text) {
  const wanted = text.toLowerCase();
  return !wanted || [one.method, one.path, one.route, one.kind, one.id, one.event, one.from, one.stack, one.api, one.error, String(one.status ?? ''), ...(one.functions ?? [])]
    .some((value) => (value ?? '').toLowerCase().includes(wanted));
}

async function list({parameters, signal, go}) {
  await loadNames();
  let text = parameters.get('search') ?? '';
  let rows = [];
  let next;
  let paused = false;
  let held = new Map();
  const body = h('tbody');
  const empty = h('p', {class: 'empty'}, 'No request yet. Send one to an API: the view Platforms has the addresses.');
  const count = h('span', {class: 'muted', role: 'status'});
  const older = action('Older requests', async () => {
    const more = await get('/requests', {limit: page, before: next, search: text}, signal);
    rows = [...rows, ...more.requests].slice(-most);
    next = more.next;
    draw();
  }, {key: 'older'});

  const elements = new Map();
  const rowFor = (one) => {
    const text = JSON.stringify(one);
    const had = elements.get(one.seq);
    if (had?.text === text) return had.row;
    const row = rowOf(columns, one, false);
    elements.set(one.seq, {text, row});
    return row;
  };
  const draw = () => {
    const wanted = rows.map(rowFor);
    const focused = document.activeElement?.dataset?.key;
    const inside = body.contains(document.activeElement);
    for (const seq of elements.keys()) if (!rows.some((one) => one.seq === seq)) elements.delete(seq);
    body.replaceChildren(...wanted);
    if (inside) body.querySelector(`[data-key="${CSS.escape(focused ?? '')}"]`)?.focus({preventScroll: true});
    empty.hidden = rows.length > 0;
    region.hidden = rows.length === 0;
    older.hidden = !next;
    count.textContent = held.size ? `${plural(held.size, 'newer request')} wait` : rows.length ? `The newest ${plural(rows.length, 'request')}` : '';
  };
  const region = scroll('Requests, newest first', h('table', null, h('caption', {class: 'hidden'}, 'Requests, newest first'),
    head(columns), body));

  const load = async () => {
    const read = await get('/requests', {limit: page, search: text}, signal);
    rows = read.requests;
    next = read.next;
    held = new Map();
    draw();
  };
  const take = (one) => {
    const known = rows.findIndex((row) => row.seq === one.seq);
    if (known >= 0) rows[known] = one;
    else if (rows.length === 0 || one.seq > rows[0].seq) rows.unshift(one);
    else rows = [...rows, one].sort((a, b) => b.seq - a.seq);
    if (rows.length > most) {
      rows = rows.slice(0, most);
      next = rows[rows.length - 1].seq;
    }
  };
  let drawing = 0;
  on('request', (one) => {
    if (!matches(one, text)) return;
    if (paused) {
      // A request that is shown already gets its end. The others wait.
      if (rows.some((row) => row.seq === one.seq)) take(one);
      else held.set(one.seq, one);
      if (held.size > most) held.delete(held.keys().next().value);
    } else {
      take(one);
    }
    // Under load a few drawings a second are enough.
    drawing ||= setTimeout(() => {
      drawing = 0;
      if (!signal.aborted) draw();
    }, 150);
  }, signal);
  on('open', () => paused || load(), signal);

  const search = h('input', {type: 'search', value: text, placeholder: 'path, status, function, error', autocomplete: 'off', spellcheck: 'false'});
  let typing;
  search.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      text = search.value.trim();
      go(text ? `#/requests?search=${encodeURIComponent(text)}` : '#/requests', {replace: true});
      load();
    }, 200);
  });
  const pause = h('button', {type: 'button', 'aria-pressed': 'false', onclick: () => {
    paused = !paused;
    pause.setAttribute('aria-pressed', String(paused));
    if (!paused) {
      for (const one of held.values()) take(one);
      held = new Map();
    }
    draw();
  }}, 'Pause');
  await load();
  return [
    h('h1', {tabindex: '-1'}, title),
    h('div', {class: 'bar', role: 'search'}, field('Search', search, 'wide'), pause, count),
    empty, region, h('div', {class: 'bar'}, older),
  ];
}

// A trace never has more rows than this.
const mostCalls = 400;

async function trace({parts, signal, reload}) {
  const [one] = await Promise.all([get(`/requests${at(parts[0])}`, null, signal), loadNames()]);
  if (one.running) {
    on('request', (ended) => ended.id === one.id && !ended.running && reload(), signal);
  }
  const cost = one.cost_per_million ?? {};
  const all = (one.invocations ?? []).flatMap((invocation) => invocation.lines ?? []);
  return [
    h('ol', {class: 'crumbs', 'aria-label': 'Place'}, h('li', null, h('a', {href: '#/requests'}, 'Requests')), h('li', null, clock(one.at))),
    h('h1', {tabindex: '-1'}, ...nameOf(one)),
    h('dl', {class: 'figures'},
      figure('Status', outcome(one)), figure('Took', one.running ? '…' : took(one.took_ms)),
      figure('Reads', `${number(one.reads)} (${plural(one.read_units ?? 0, 'unit')})`), figure('Writes', `${number(one.writes)} (${plural(one.write_units ?? 0, 'unit')})`),
      figure('Cost of a million in AWS', money(cost.total))),
    one.error && h('div', {class: 'problem'}, h('strong', null, 'Error '), one.error),
    waterfall(one),
    one.led && [h('h2', null, 'What its events led to'), h('ul', null, one.led.map((other) => h('li', null, h('a', {href: `#/requests${at(other.id)}`}, ...nameOf(other)), ' ', outcome(other), ' ', (other.functions ?? []).join(', '))))],
    h('h2', null, 'Log lines'), lines(all, {named: (one.invocations ?? []).length > 1}),
    h('div', {class: 'split'},
      h('section', {class: 'card', 'aria-label': 'Details'}, h('h2', {style: {'margin-top': '0'}}, 'Details'), h('dl', null,
        h('dt', null, 'Id'), h('dd', null, h('code', null, one.id), ' ', copy(() => one.id)),
        h('dt', null, 'Began'), h('dd', null, new Date(one.at).toLocaleString()),
        one.route && [h('dt', null, 'Route'), h('dd', null, h('code', null, one.route))],
        one.stack && [h('dt', null, 'Stack'), h('dd', null, one.stack)],
        one.event && [h('dt', null, 'Event'), h('dd', null, h('a', {href: `#/buses?search=${encodeURIComponent(one.event)}`}, one.event))],
        one.from && [h('dt', null, 'Published by'), h('dd', null, h('a', {href: `#/requests${at(one.from)}`}, one.from))],
        h('dt', null, 'Logs in a terminal'), h('dd', null, h('code', null, `onesynth logs --request ${one.id}`)))),
      h('section', {class: 'card', 'aria-label': 'Cost'}, h('h2', {style: {'margin-top': '0'}}, 'A million such requests'), h('dl', null,
        Object.entries(cost).filter(([part]) => part !== 'total').map(([part, dollars]) => [h('dt', null, part.replaceAll('_', ' ')), h('dd', null, money(dollars))]),
        h('dt', null, h('strong', null, 'together')), h('dd', null, h('strong', null, money(cost.total)))))),
  ];
}

/** keysOf are the keys of a call, each of a transaction or a batch by itself, without the table's name, which is beside them. */
function keysOf(call) {
  if (!call.key) return [];
  const keys = /^(Transact|Batch)/.test(call.operation) ? call.key.split('; ') : [call.key];
  return keys.map((key) => (call.table ? key.replace(`${call.table} `, '') : key));
}

const figure = (label, value) => h('div', null, h('dt', null, label), h('dd', null, value));

/** bar draws where on the time of the whole request a part is. */
function bar(one, began, length, kind) {
  const whole = Math.max(one.took_ms || 0, ...(one.invocations ?? []).map((invocation) => (invocation.began_ms ?? 0) + (invocation.waited_ms ?? 0) + (invocation.took_ms ?? 0)), 0.001);
  const left = Math.min(100, (100 * began) / whole);
  return h('i', {class: kind, style: {left: `${left}%`, width: `${Math.max(0, Math.min(100 - left, (100 * length) / whole))}%`}});
}

/** waterfall is the table of what a request did. */
export function waterfall(one) {
  const rows = [];
  if (one.kind === 'http') rows.push({depth: 0, what: ['API Gateway ', h('span', {class: 'muted'}, one.api ?? '')], on: one.route, took: one.took_ms, bars: [bar(one, 0, one.took_ms ?? 0, 'gateway')]});
  for (const invocation of one.invocations ?? []) {
    const waited = invocation.waited_ms ?? 0;
    rows.push({
      depth: 1, what: [h('a', {href: `#/functions${at(invocation.function)}`}, invocation.label || invocation.function), invocation.cold_start && [' ', h('span', {class: 'badge warn'}, 'cold start')]],
      on: waited >= 1 ? `waited ${took(waited)} for an instance` : '', took: invocation.took_ms, error: invocation.error,
      bars: [waited > 0 && bar(one, invocation.began_ms, waited, 'waited'), bar(one, (invocation.began_ms ?? 0) + waited, invocation.took_ms ?? 0, invocation.error ? 'function bad' : 'function')],
    });
    for (const call of invocation.calls ?? []) {
      rows.push({
        depth: 2, what: [(call.patterns ?? []).map((pattern) => h('div', null, h('strong', null, pattern))), h('span', {class: 'muted'}, call.service, ' '), call.operation],
        on: [call.table ? h('a', {href: `#/tables${at(call.table)}${call.index ? `?index=${encodeURIComponent(call.index)}` : ''}`}, [brief(call.table), call.index].filter(Boolean).join(' / '))
          : call.bucket && h('a', {href: `#/buckets${at(call.bucket)}`}, brief(call.bucket)), keysOf(call).map((key) => h('div', null, h('code', null, key)))],
        units: [call.read_units && `${number(call.read_units)} R`, call.write_units && `${number(call.write_units)} W`].filter(Boolean).join(' '),
        cost: call.cost_per_million, took: call.took_ms, error: call.error || (call.status >= 400 ? `status ${call.status}` : ''),
        input: call.input, bars: [bar(one, call.began_ms, call.took_ms ?? 0, call.error || call.status >= 400 ? 'bad' : 'call')],
      });
    }
    if (invocation.calls_omitted) rows.push({depth: 2, what: `${number(invocation.calls_omitted)} further calls`, on: 'not kept', bars: []});
  }
  const shown = rows.slice(0, mostCalls);
  return [
    table({class: 'waterfall', caption: 'What the request did', rows: shown, empty: 'The request invoked nothing.', columns: [
      {label: 'Step', class: 'step', cell: (row) => h('div', {class: `depth${row.depth}`}, row.what, row.error && h('div', {class: 'bad'}, row.error),
        row.input && h('details', null, h('summary', {class: 'muted'}, 'Input'), h('pre', {tabindex: '0', 'aria-label': 'Input'}, pretty(row.input))))},
      {label: 'On', class: 'on', cell: (row) => row.on},
      {label: 'Units', number: true, cell: (row) => row.units ?? ''},
      {label: 'A million', number: true, cell: (row) => (row.cost ? money(row.cost) : '')},
      {label: 'Took', number: true, cell: (row) => took(row.took)},
      {label: 'When', class: 'track', cell: (row) => h('div', {'aria-hidden': 'true'}, row.bars)},
    ]}),
    rows.length > shown.length && h('p', {class: 'muted'}, `${number(rows.length - shown.length)} further calls are not shown: read them with curl /requests/${one.id}.`),
  ];
}
