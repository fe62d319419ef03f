// Requests as they come, and what each did.

import {at, get, post} from '../api.js';
import {action, chips, copy, field, h, head, pre, rowOf, say, scroll, searchField, table} from '../dom.js';
import {contents, curl, variable} from '../exchange.js';
import {feed} from '../feed.js';
import {bytesOf, clock, money, number, plural, pretty, status, took, when} from '../format.js';
import {lines} from '../lines.js';
import {on} from '../live.js';
import {brief, load as loadNames, stackNames} from '../names.js';
import {sorted} from '../sorting.js';

export const name = 'requests';
export const title = 'Requests';
export const parts = 1;

// The list never has more rows than this: the oldest leave it.
const most = 300;
const page = 100;

export async function show(context) {
  return context.parts.length > 0 ? trace(context) : list(context);
}

const columns = [
  {label: 'Time', class: 'nowrap', cell: (one) => when(one.at)},
  {label: 'Request', cell: (one) => h('a', {class: 'request', href: `#/requests${at(one.id)}`,
    'data-key': `r${one.seq}`}, ...nameOf(one))},
  {label: 'Status', cell: (one) => outcome(one)},
  {label: 'Took', number: true, cell: (one) => (one.running ? '…' : took(one.took_ms))},
  {label: 'Reads', class: 'roomy', number: true, cell: (one) =>
    (one.reads ? h('span', {title: `${number(one.read_units)} units`}, number(one.reads)) : '')},
  {label: 'Writes', class: 'roomy', number: true, cell: (one) =>
    (one.writes ? h('span', {title: `${number(one.write_units)} units`}, number(one.writes)) : '')},
  {label: 'Functions', class: 'roomy', cell: (one) =>
    [(one.functions ?? []).join(', '), one.cold_start && [' ', h('span', {class: 'badge warn'}, 'cold')]]},
];

function nameOf(one) {
  if (one.kind === 'http') return [h('span', {class: 'method'}, one.method), ' ', h('span', {class: 'path'}, one.path)];
  return [h('span', {class: 'method'}, one.kind), ' ',
    h('span', {class: 'path'}, brief(one.path || one.route || (one.functions ?? []).join(', ') || one.id))];
}

function outcome(one) {
  if (one.running) return h('span', {class: 'badge'}, 'running');
  if (one.kind === 'http') return status(one.status);
  return one.error ? h('span', {class: 'badge bad'}, 'failed') : h('span', {class: 'badge good'}, 'done');
}

const failed = (one) => (one.kind === 'http' ? !one.status || one.status >= 400 : Boolean(one.error));

// What the chips choose, and how they know it of a request that comes: GET /requests has the same names.
const outcomes = {
  failed: (one) => !one.running && failed(one),
  '4xx': (one) => Math.floor(one.status / 100) === 4,
  '5xx': (one) => Math.floor(one.status / 100) === 5,
  slow: (one) => one.took_ms >= 1000,
};

// Only the run has headers and bodies: it is asked again when a request has ended.
const deep = (search) => /^(header|body):/i.test(search);

function matches(one, {search, only, stack}) {
  if (stack && one.stack !== stack || only && !outcomes[only]?.(one)) return false;
  if (/^[1-5]\d\d$/.test(search)) return String(one.status) === search;
  return [`${one.method} ${one.path}`, one.route, one.kind, one.id, one.event, one.from, one.stack, one.api, one.error,
    one.failure?.code, one.failure?.message, one.idempotency_key, ...(one.call_errors ?? []), ...(one.functions ?? [])]
    .some((value) => (value ?? '').toLowerCase().includes(search.toLowerCase()));
}

async function list({parameters, signal, go}) {
  await loadNames();
  const asked = Object.fromEntries(['search', 'only', 'stack'].map((one) => [one, parameters.get(one) ?? '']));
  let rows = [];
  let next;
  const body = h('tbody');
  const empty = h('p', {class: 'empty'});
  const count = h('span', {class: 'muted', role: 'status'});
  const older = action('Older requests', async () => {
    const more = await get('/requests', {limit: page, before: next, ...asked}, signal);
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
    const wanted = sorted(columns, rows.map(rowFor));
    const focused = document.activeElement?.dataset?.key;
    const inside = body.contains(document.activeElement);
    for (const seq of elements.keys()) if (!rows.some((one) => one.seq === seq)) elements.delete(seq);
    if (wanted.length !== body.children.length ||
      wanted.some((row, i) => row !== body.children[i])) body.replaceChildren(...wanted);
    if (inside) body.querySelector(`[data-key="${CSS.escape(focused ?? '')}"]`)?.focus({preventScroll: true});
    empty.textContent = Object.values(asked).some(Boolean) ? 'No such request.'
      : 'No request yet. Send one to an API: the view Platforms has the addresses.';
    empty.hidden = rows.length > 0;
    region.hidden = rows.length === 0;
    older.hidden = !next;
    count.textContent = live.waiting('request') ||
      (rows.length > 0 ? `The newest ${plural(rows.length, 'request')}` : '');
  };
  const region = scroll('Requests, newest first',
    h('table', null, h('caption', {class: 'hidden'}, 'Requests, newest first'),
    head(columns, () => draw()), body));

  let looking = 0;
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
  const live = feed('request', {
    list: region, draw, take, wanted: (one) => {
      if (!deep(asked.search)) return matches(one, asked);
      if (!one.running) looking ||= setTimeout(() => {
        looking = 0;
        if (!signal.aborted) live.load();
      }, 500);
      return false;
    },
    read: () => get('/requests', {limit: page, ...asked}, signal),
    fill: (answer) => {
      rows = answer.requests;
      next = answer.next;
    },
    // A request that is shown already gets its end at once.
    known: (one) => rows.some((row) => row.seq === one.seq),
  }, signal);

  const choose = (what) => (value) => {
    asked[what] = value;
    const wanted = new URLSearchParams(Object.entries(asked).filter(([, given]) => given));
    go(`#/requests${wanted.size > 0 ? `?${wanted}` : ''}`, {replace: true});
    return live.load();
  };
  await live.load();
  return [
    h('h1', {tabindex: '-1'}, title),
    h('div', {class: 'bar', role: 'search'},
      field('Search', searchField(asked.search, 'path, status, code, key, error, header:NAME, body:TEXT',
        choose('search')), 'wide'),
        live.pause, count),
    h('div', {class: 'bar'}, chips('Outcome', Object.keys(outcomes).map((one) => [one, one]), asked.only,
      choose('only')),
      chips('Platform', stackNames().map((one) => [one, one]), asked.stack, choose('stack'))),
    empty, region, h('div', {class: 'bar'}, older),
  ];
}

// A trace never has more rows than this.
const mostCalls = 400;

async function trace({parts, signal, reload, go}) {
  const [one, {apis}] = await Promise.all([get(`/requests${at(parts[0])}`, null, signal), get('/', null, signal),
    loadNames()]);
  if (one.running) {
    on('request', (ended) => ended.id === one.id && !ended.running && reload(), signal);
  }
  const cost = one.cost_per_million ?? {};
  const all = (one.invocations ?? []).flatMap((invocation) => invocation.lines ?? []);
  return [
    h('ol', {class: 'crumbs', 'aria-label': 'Place'}, h('li', null, h('a', {href: '#/requests'}, 'Requests')),
      h('li', null, clock(one.at))),
    h('h1', {tabindex: '-1'}, ...nameOf(one)),
    h('dl', {class: 'figures'},
      figure('Status', outcome(one)), figure('Took', one.running ? '…' : took(one.took_ms)),
      figure('Reads', `${number(one.reads)} (${plural(one.read_units ?? 0, 'unit')})`),
        figure('Writes', `${number(one.writes)} (${plural(one.write_units ?? 0, 'unit')})`),
      figure('Cost of a million in AWS', money(cost.total))),
    problemOf(one),
    waterfall(one),
    exchange(one, apis?.find((api) => api.stack === one.stack && api.name === one.api), signal, go),
    one.records && table({caption: `The batch: ${plural(one.records.length + (one.records_omitted ?? 0), 'record')}`,
      rows: one.records, named: false, columns: [
        {label: 'Change', class: 'nowrap', cell: (record) => h('span', {class: 'badge'}, record.event)},
        {label: 'Key', cell: (record) => h('code', {title: `sequence number ${record.sequence}`}, record.key)},
        {label: 'Written by', cell: (record) => (record.writer
          ? [h('a', {class: 'request', href: `#/requests${at(record.writer.id)}`}, ...nameOf(record.writer)), ' ',
            when(record.writer.at)]
          : h('span', {class: 'muted'}, 'no request that the run knows'))},
      ]}),
    one.records_omitted && h('p', {class: 'muted'},
      `${plural(one.records_omitted, 'further record')} ${one.records_omitted === 1 ? 'is' : 'are'} not shown.`),
    one.led && [h('h2', null, 'What it led to'),
      h('ul', null, one.led.map((other) => h('li', null, h('a', {href: `#/requests${at(other.id)}`}, ...nameOf(other)),
        ' ', outcome(other), ' ', (other.functions ?? []).join(', '))))],
    h('h2', null, 'Log lines'), lines(all, {named: (one.invocations ?? []).length > 1}),
    h('div', {class: 'split'},
      h('section', {class: 'card', 'aria-label': 'Details'},
        h('h2', {style: {'margin-top': '0'}}, 'Details'), h('dl', null,
        h('dt', null, 'Id'), h('dd', null, h('code', null, one.id), ' ', copy(() => one.id)),
        h('dt', null, 'Began'), h('dd', null, new Date(one.at).toLocaleString()),
        one.route && [h('dt', null, 'Route'), h('dd', null, h('code', null, one.route))],
        one.stack && [h('dt', null, 'Stack'), h('dd', null, one.stack)],
        one.event && [h('dt', null, 'Event'), h('dd', null,
          h('a', {href: `#/buses?search=${encodeURIComponent(one.event)}`}, one.event))],
        one.from && [h('dt', null, 'Published by'),
          h('dd', null, h('a', {href: `#/requests${at(one.from)}`}, one.from))],
        h('dt', null, 'Logs in a terminal'), h('dd', null, h('code', null, `onesynth logs --request ${one.id}`)))),
      h('section', {class: 'card', 'aria-label': 'Cost'},
        h('h2', {style: {'margin-top': '0'}}, 'A million such requests'), h('dl', null,
        Object.entries(cost).filter(([part]) => part !== 'total')
          .map(([part, dollars]) => [h('dt', null, part.replaceAll('_', ' ')), h('dd', null, money(dollars))]),
        h('dt', null, h('strong', null, 'together')), h('dd', null, h('strong', null, money(cost.total)))))),
  ];
}

/** problemOf says why a request failed: its error, and what the answer says. */
function problemOf(one) {
  const {code, field: part, message} = one.failure ?? {};
  if (!one.error && !one.failure) return null;
  return h('div', {class: 'problem'}, h('strong', null, 'Error '), code && [h('code', null, code), ' '], part &&
    ['field ', h('code', null, part), ' '],
    [...new Set([message, one.error])].filter(Boolean).join('\n'));
}

/** exchange is what was sent and answered, and the ways to send it again. */
function exchange(one, api, signal, go) {
  if (one.kind !== 'http' || one.running) return null;
  const {sent, answer} = one;
  if (!sent) return h('p', {class: 'muted'}, 'What was sent and answered is no longer kept.');
  const again = (label, body) => action(label, async () => {
    const tried = await post(`/requests${at(one.id)}/again`, body(), signal);
    if (tried.request) go(`#/requests${at(tried.request)}`);
    else say(`The answer has the status ${tried.status}`);
  });
  const same = () => ({});
  const keyed = Object.keys(sent.headers).some((header) => /idempotency-key$/i.test(header));
  // A command cannot have what was cut, nor a body that is no text.
  const command = api && !sent.cut && (sent.body || !sent.body_bytes)
    && curl({api: api.url, method: one.method, path: one.path, headers: sent.headers, body: sent.body}, sent.secrets);
  const side = (heading, {body, body_bytes: size, cut, headers}) =>
    h('section', {class: 'card', 'aria-label': heading}, h('h2', {style: {'margin-top': '0'}}, heading),
    contents(`the ${heading.toLowerCase()}`, body || size > 0 && `${bytesOf(size)} that are no text`, headers),
    cut && h('p', {class: 'muted'}, `It was not kept whole${size > 0 ? `: its body has ${bytesOf(size)}` : ''}.`));
  return [
    h('div', {class: 'beside'}, side('Request', sent), side('Answer', answer)),
    api && h('div', {class: 'bar'},
      !sent.cut && (keyed
        ? [again('Send again with a new key', () => ({idempotency_key: crypto.randomUUID()})),
          again('Send again with the same key', same)]
        : again('Send again', same)),
      command && [copy(() => command, 'Copy as curl'), sent.secrets.length > 0
        && h('span', {class: 'muted'}, 'The command takes secrets from ',
          sent.secrets.map((header) => [h('code', null, `$${variable(header)}`), ' ']))]),
  ];
}

/** folded puts calls together that were repeated: equal ones that follow each other, and tries after an error. What is
 * tried after throttling may have another time or token in its input. */
function folded(calls) {
  const newest = new Map();
  const groups = [];
  let last;
  for (const call of calls) {
    const what = JSON.stringify([call.service, call.operation, call.patterns, call.table, call.index, call.bucket,
      call.key]);
    let group = newest.get(what);
    const before = group?.at(-1);
    if (group && (throttled(before) || before.input === call.input && (group === last || wrong(before)))) {
      group.push(call);
    } else {
      group = [call];
      newest.set(what, group);
      groups.push(group);
    }
    last = group;
  }
  return groups;
}

const wrong = (call) => call.error || (call.status >= 400 ? `status ${call.status}` : '');

const throttled = (call) => /throttl|ThroughputExceeded|RequestLimitExceeded|SlowDown/i.test(call.error);

/** times says how often a call was repeated: "× 11, throttled". */
function times(calls) {
  const some = calls.filter(throttled).length;
  return [`× ${number(calls.length)}`, some > 0 &&
    (some === calls.length ? 'throttled' : `${number(some)} throttled`)].filter(Boolean).join(', ');
}

/** keysOf are the keys of a call, each of a transaction or a batch by itself, without the table's name, which is
 * beside them. */
function keysOf(call) {
  if (!call.key) return [];
  const keys = /^(Transact|Batch)/.test(call.operation) ? call.key.split('; ') : [call.key];
  return keys.map((key) => (call.table ? key.replace(`${call.table} `, '') : key));
}

const figure = (label, value) => h('div', null, h('dt', null, label), h('dd', null, value));

/** bar draws where on the time of the whole request a part is. */
function bar(one, began, length, kind) {
  const whole = Math.max(one.took_ms || 0, ...(one.invocations ?? [])
    .map((invocation) => (invocation.began_ms ?? 0) + (invocation.waited_ms ?? 0) + (invocation.took_ms ?? 0)), 0.001);
  const left = Math.min(100, (100 * began) / whole);
  return h('i', {class: kind, style: {'inset-inline-start': `${left}%`,
    width: `${Math.max(0, Math.min(100 - left, (100 * length) / whole))}%`}});
}

/** waterfall is the table of what a request did. */
export function waterfall(one) {
  const rows = [];
  if (one.kind === 'http') rows.push({depth: 0, what: ['API Gateway ', h('span', {class: 'muted'}, one.api ?? '')],
    on: one.route, took: one.took_ms, bars: [bar(one, 0, one.took_ms ?? 0, 'gateway')]});
  for (const invocation of one.invocations ?? []) {
    const waited = invocation.waited_ms ?? 0;
    rows.push({
      depth: 1, what: [h('a', {href: `#/functions${at(invocation.function)}`}, invocation.label || invocation.function),
        invocation.cold_start && [' ', h('span', {class: 'badge warn'}, 'cold start')]],
      on: waited >= 1 ? `waited ${took(waited)} for an instance` : '', took: invocation.took_ms,
        error: invocation.error,
      bars: [waited > 0 && bar(one, invocation.began_ms, waited, 'waited'),
        bar(one, (invocation.began_ms ?? 0) + waited, invocation.took_ms ?? 0, invocation.error ? 'function bad'
          : 'function')],
    });
    for (const calls of folded(invocation.calls ?? [])) {
      const [call] = calls;
      const sum = (member) => calls.reduce((all, one) => all + (one[member] ?? 0), 0);
      const units = [['read_units', 'R'], ['write_units', 'W']].map(([member, unit]) => sum(member) &&
        `${number(sum(member))} ${unit}`);
      rows.push({
        depth: 2, what: [(call.patterns ?? []).map((pattern) => h('div', null, h('strong', null, pattern))),
          h('span', {class: 'muted'}, call.service, ' '), call.operation,
          calls.length > 1 && [' ', h('span', {class: 'badge'}, times(calls))]],
        on: [call.table ? h('a',
          {href: `#/tables${at(call.table)}${call.index ? `?index=${encodeURIComponent(call.index)}` : ''}`},
            [brief(call.table), call.index].filter(Boolean).join(' / '))
          : call.bucket && h('a', {href: `#/buckets${at(call.bucket)}`}, brief(call.bucket)), keysOf(call)
            .map((key) => h('div', null, h('code', null, key)))],
        units: units.filter(Boolean).join(' '),
        cost: sum('cost_per_million'), took: sum('took_ms'),
          error: [...new Set(calls.map(wrong))].filter(Boolean).join('\n'),
        input: call.input, bars: calls.map((each) =>
          bar(one, each.began_ms, each.took_ms ?? 0, wrong(each) ? 'bad' : 'call')),
      });
    }
    if (invocation.calls_omitted) rows.push({depth: 2, what: `${number(invocation.calls_omitted)} further calls`,
      on: 'not kept', bars: []});
  }
  const shown = rows.slice(0, mostCalls);
  return [
    table({class: 'waterfall', caption: 'What the request did', rows: shown,
      empty: 'The request invoked nothing.', columns: [
      {label: 'Step', class: 'step', cell: (row) =>
        h('div', {class: `depth${row.depth}`}, row.what, row.error && h('div', {class: 'bad'}, row.error),
        row.input && h('details', null, h('summary', {class: 'muted'}, 'Input'),
          pre('Input', pretty(row.input))))},
      {label: 'On', class: 'on', cell: (row) => row.on},
      {label: 'Units', number: true, cell: (row) => row.units ?? ''},
      {label: 'A million', number: true, cell: (row) => (row.cost ? money(row.cost) : '')},
      {label: 'Took', number: true, cell: (row) => took(row.took)},
      {label: 'When', class: 'track', sorts: false, cell: (row) => h('div', {'aria-hidden': 'true'}, row.bars)},
    ]}),
    rows.length > shown.length && h('p', {class: 'muted'},
      `${number(rows.length - shown.length)} further calls are not shown: read them with curl /requests/${one.id}.`),
  ];
}
