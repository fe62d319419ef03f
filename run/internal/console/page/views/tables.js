// Tables and their items.

import {at, get, post} from '../api.js';
import {action, dialog, field, h, problem, put, say, select, table} from '../dom.js';
import {editor, link, nameOf, timeOf} from '../editor.js';
import {cut, dollars, number, plural} from '../format.js';
import {value} from '../item.js';
import {brief, load} from '../names.js';
import {Unknown} from '../unknown.js';

export const name = 'tables';
export const title = 'Tables';

// An address has a table, and an item of it.
export const parts = 2;

export async function show(context) {
  const [, what] = context.parts;
  if (what !== undefined && what !== 'item') throw new Unknown(`A table has no ${what}.`);
  return what ? itemOf(context) : context.parts.length > 0 ? one(context) : list(context);
}

/** tableNamed reads what a table is. */
async function tableNamed(wanted, stack, signal) {
  const [described] = await Promise.all([get(`/tables${at(wanted)}`, {stack}, signal), load()]);
  return described;
}

/** placeOf leads from a table up. */
const placeOf = (...content) => h('ol', {class: 'crumbs', 'aria-label': 'Place'},
  h('li', null, h('a', {href: '#/tables'}, 'Tables')), content.map((one) => h('li', null, one)));

const tableAddress = (table) => `#/tables${at(table.name)}?stack=${encodeURIComponent(table.stack)}`;

/** itemOf is the view of an item, which an address names by its key. */
async function itemOf({parts: [wanted], parameters, signal, go, reload}) {
  const stack = parameters.get('stack') ?? '';
  const [described, {item}] = await Promise.all([tableNamed(wanted, stack, signal),
    get(`/tables${at(wanted)}/item`, {stack, key: parameters.get('key') ?? '{}'}, signal)]);
  const write = async (was, now) => {
    await post(`/tables${at(wanted)}/items`, {stack: described.stack, was, item: now}, signal);
    if (now === null) go(tableAddress(described));
    else await reload();
    say(now === null ? 'The item is deleted' : 'The item is changed');
  };
  return [
    placeOf(described.stack, h('a', {href: tableAddress(described), title: described.name}, brief(described.name))),
    h('h1', {tabindex: '-1'}, nameOf(described, item)),
    h('div', {class: 'card item'}, editor(described, item, {write, buttons: action('Read again', reload)})),
  ];
}

const keysOf = (keys) => keys.map((key) => `${key.attribute} (${key.type})`).join(', ');

async function list({signal}) {
  const [tables] = await Promise.all([get('/tables', null, signal), load()]);
  const stacks = [...new Set(tables.map((one) => one.stack))];
  return [h('h1', {tabindex: '-1'}, title), h('p', {class: 'muted'},
    'Reads and writes are the units that functions used, with their cost in AWS: ', h('a', {href: '#/costs'}, 'Cost'),
    ' has them by route.'),
  stacks.map((stack) => table({
    caption: stack, rows: tables.filter((one) => one.stack === stack), columns: [
      {label: 'Table', cell: (one) => h('a', {href: `#/tables${at(one.name)}?stack=${encodeURIComponent(one.stack)}`,
        title: one.name}, one.logical_id ? brief(one.name) : `${one.name} (existing)`)},
      {label: 'Items', number: true, cell: (one) => number(one.items)},
      {label: 'Reads', class: 'roomy', number: true, cell: (one) => number(one.read_units)},
      {label: 'Writes', class: 'roomy', number: true, cell: (one) => number(one.write_units)},
      {label: 'Cost', number: true, cell: (one) => dollars(one.cost)},
      {label: 'Key', cell: (one) => h('code', null, keysOf(one.keys))},
      {label: 'Indexes', cell: (one) => one.indexes.map((index) =>
        h('div', null, h('strong', null, index.name), ' ', h('code', {class: 'muted'}, keysOf(index.keys))))},
      {label: 'Stream', cell: (one) => one.stream?.toLowerCase().replaceAll('_', ' ') ?? '–'},
      {label: 'Expires by', cell: (one) => (one.time_to_live ? h('code', null, one.time_to_live) : '–')},
    ]})), tables.length === 0 && h('p', {class: 'empty'}, 'The assembly has no table.')];
}

const perPage = 50;

async function one({parts, parameters, signal, go}) {
  const [wanted] = parts;
  const stack = parameters.get('stack') ?? '';
  const described = await tableNamed(wanted, stack, signal);
  const asked = Object.fromEntries(['index', 'partition', 'sort', 'text'].map((name) =>
    [name, parameters.get(name) ?? '']));
  const path = `/tables${at(wanted)}/items`;
  const place = h('div');
  const after = [''];

  // The number says how it is stored, and the time what it means.
  const time = (attribute, item) => {
    const moment = timeOf(described, item, attribute);
    return moment && [' ', h('span', {class: 'muted'}, moment)];
  };

  const draw = async () => {
    let read;
    try {
      read = await get(path, {...asked, stack, limit: perPage, after: after.at(-1)}, signal);
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      put(place, problem(error, 'The items could not be read.'));
      return;
    }
    const index = described.indexes.find((other) => other.name === asked.index);
    const keys = [...new Set([...described.keys, ...(index?.keys ?? [])].map((key) => key.attribute))];
    const counts = new Map();
    for (const attribute of read.items.flatMap(Object.keys)) {
      if (!keys.includes(attribute)) counts.set(attribute, (counts.get(attribute) ?? 0) + 1);
    }
    // The keys of other indexes say little: they come last.
    const indexed = new Set(described.indexes.flatMap((other) => other.keys.map((key) => key.attribute)));
    const others = [...counts].sort(([a, m], [b, n]) => indexed.has(a) - indexed.has(b) || n - m ||
      (a < b ? -1 : 1)).slice(0, 7).map(([attribute]) => attribute);
    const first = after.length === 1 ? 1 : null;
    put(place,
      table({
        caption: `${plural(read.items.length, 'item')}${first ? '' : `, page ${after.length}`}, ` +
          `${number(read.examined)} read to find them`,
        rows: read.items,
        empty: read.next ? `None of the ${plural(read.examined, 'item')} read so far has it. There are more.`
          : 'No item.',
        columns: [
          ...keys.map((attribute, i) => ({label: attribute, class: 'key', cell: (item) => (i === 0
            ? h('button', {type: 'button', class: 'link mono', 'aria-label': keys.length > 1
              ? keys.map((key) => cut(value(item[key]), 60)).join(' / ') : null, onclick: () => edit(item)},
                cut(value(item[attribute]), 60))
            : [h('code', null, cut(value(item[attribute]), 60)), timeOf(attribute, item)])})),
          ...others.map((attribute) => ({label: attribute, cell: (item) => h('span', {class: 'cut'},
            cut(value(item[attribute]), 80), time(attribute, item))})),
        ]}),
      h('div', {class: 'bar'},
        after.length > 1 && action('Previous page', async () => { after.pop(); await draw(); }, {key: 'previous'}),
        read.next && (read.items.length === 0
          ? action('Look further', () => further(read), {key: 'next'})
          : action('Next page', async () => { after.push(read.next); await draw(); }, {key: 'next'}))));
  };

  // Each answer is of a thousand items, so that a large table keeps no one waiting. This goes on until one is found.
  const further = async (read) => {
    let next = read.next;
    for (let examined = read.examined; next;) {
      const more = await get(path, {...asked, stack, limit: perPage, after: next}, signal);
      examined += more.examined;
      say(`${number(examined)} items read`);
      if (more.items.length > 0 || !more.next) break;
      next = more.next;
    }
    after.push(next);
    await draw();
  };

  const write = async (was, item) => {
    await post(path, {stack: stack || undefined, was, item}, signal);
    say(item === null ? 'The item is deleted' : was === null ? 'The item is added' : 'The item is changed');
    await draw();
  };

  const edit = (item) => {
    const close = dialog(item === null ? 'Add an item' : `Item ${nameOf(described, item)}`, editor(described, item, {
      write: async (was, now) => {
        await write(was, now);
        close();
      },
      buttons: [
        item !== null && h('a', {class: 'button', href: link(described, item), target: '_blank', rel: 'noopener'},
          'Open in a new tab'),
        h('button', {type: 'button', onclick: () => close()}, 'Close')],
    }));
  };

  const index = select([['', 'the table'], ...described.indexes.map((other) => other.name)], asked.index,
    {name: 'index'});
  const partition = h('input', {value: asked.partition, autocomplete: 'off', spellcheck: 'false'});
  const sort = h('input', {value: asked.sort, autocomplete: 'off', spellcheck: 'false'});
  const text = h('input', {type: 'search', value: asked.text, placeholder: 'in any attribute', autocomplete: 'off',
    spellcheck: 'false'});
  const names = [h('span'), h('span')];
  const sortField = h('label', null, names[1], sort);
  const label = () => {
    const keys = described.indexes.find((other) => other.name === index.value)?.keys ?? described.keys;
    names[0].textContent = `${keys[0].attribute} is`;
    names[1].textContent = keys[1] ? `${keys[1].attribute} ${keys[1].type === 'N' ? 'is' : 'begins with'}` : '';
    sortField.hidden = !keys[1];
    if (!keys[1]) sort.value = '';
  };
  index.addEventListener('change', label);
  label();
  const form = h('form', {role: 'search', onsubmit: (event) => {
    event.preventDefault();
    const query = new URLSearchParams();
    for (const [name, given] of Object.entries({stack, index: index.value, partition: partition.value, sort: sort.value,
      text: text.value})) if (given) query.set(name, given);
    go(`#/tables${at(wanted)}?${query}`);
  }}, field('Read', index), h('label', null, names[0], partition), sortField, field('Text', text),
    h('button', {class: 'primary'}, 'Filter'),
  h('a', {href: `#/tables${at(wanted)}?stack=${encodeURIComponent(stack)}`}, 'Clear'));
  await draw();
  // The engine counts all items, which keeps it busy in a large table: this waits until someone stays here.
  const count = h('span');
  const counting = setTimeout(async () => {
    const tables = await get('/tables', null, signal);
    const counted = tables.find((other) => other.name === wanted && other.stack === described.stack);
    put(count, ` has ${plural(counted.items, 'item')}`);
  }, 500);
  signal.addEventListener('abort', () => clearTimeout(counting));
  return [
    placeOf(described.stack),
    h('h1', {tabindex: '-1', title: wanted}, brief(wanted)),
    h('p', {class: 'muted'}, h('code', null, wanted), count, `. Key: ${keysOf(described.keys)}.`,
      described.time_to_live && ` Expires by ${described.time_to_live}.`),
    form, h('div', {class: 'bar'}, h('button', {type: 'button', onclick: () => edit(null)}, 'Add an item'),
      action('Read again', draw)),
    place,
  ];
}
