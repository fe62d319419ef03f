// Tables and their items.

import {at, get, post} from '../api.js';
import {action, copy, dialog, field, h, problem, put, say, select, table} from '../dom.js';
import {cut, moment, number, plural} from '../format.js';
import {exact, plain, typed} from '../item.js';
import {brief, load} from '../names.js';

export const name = 'tables';
export const title = 'Tables';

export async function show(context) {
  return context.parts.length > 0 ? one(context) : list(context);
}

const keysOf = (keys) => keys.map((key) => `${key.attribute} (${key.type})`).join(', ');

async function list({signal}) {
  const [tables] = await Promise.all([get('/tables', null, signal), load()]);
  const stacks = [...new Set(tables.map((one) => one.stack))];
  return [h('h1', {tabindex: '-1'}, title), stacks.map((stack) => table({
    caption: stack, rows: tables.filter((one) => one.stack === stack), columns: [
      {label: 'Table', cell: (one) => h('a', {href: `#/tables${at(one.name)}?stack=${encodeURIComponent(one.stack)}`, title: one.name}, one.logical_id ? brief(one.name) : `${one.name} (existing)`)},
      {label: 'Items', number: true, cell: (one) => number(one.items)},
      {label: 'Key', cell: (one) => h('code', null, keysOf(one.keys))},
      {label: 'Indexes', cell: (one) => one.indexes.map((index) => h('div', null, h('strong', null, index.name), ' ', h('code', {class: 'muted'}, keysOf(index.keys))))},
      {label: 'Stream', cell: (one) => one.stream ?? '–'},
      {label: 'Expires by', cell: (one) => (one.time_to_live ? h('code', null, one.time_to_live) : '–')},
    ]})), tables.length === 0 && h('p', {class: 'empty'}, 'The assembly has no table.')];
}

const perPage = 50;

async function one({parts, parameters, signal, go}) {
  const [wanted] = parts;
  const stack = parameters.get('stack') ?? '';
  await load();
  const described = (await get('/tables', null, signal)).find((other) => other.name === wanted && (!stack || other.stack === stack));
  if (!described) throw new Error(`This run has no table ${wanted}.`);
  const asked = Object.fromEntries(['index', 'partition', 'sort', 'text'].map((name) => [name, parameters.get(name) ?? '']));
  const path = `/tables${at(wanted)}/items`;
  const place = h('div');
  const after = [''];

  // The number says how it is stored, and the time what it means.
  const isTime = (attribute, item) => item[attribute]?.N !== undefined && described.times?.includes(attribute);
  const timeOf = (attribute, item) => isTime(attribute, item) && [' ', h('span', {class: 'muted'}, moment(item[attribute].N))];

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
    for (const item of read.items) for (const attribute of Object.keys(item)) if (!keys.includes(attribute)) counts.set(attribute, (counts.get(attribute) ?? 0) + 1);
    // The keys of other indexes say little: they come last.
    const indexed = new Set(described.indexes.flatMap((other) => other.keys.map((key) => key.attribute)));
    const others = [...counts].sort(([a, m], [b, n]) => indexed.has(a) - indexed.has(b) || n - m || (a < b ? -1 : 1)).slice(0, 7).map(([attribute]) => attribute);
    const first = after.length === 1 ? 1 : null;
    put(place,
      table({
        caption: `${plural(read.items.length, 'item')}${first ? '' : `, page ${after.length}`}, ${number(read.examined)} read to find them`, rows: read.items,
        empty: read.next ? `None of the ${plural(read.examined, 'item')} read so far has it. There are more.` : 'No item.',
        columns: [
          ...keys.map((attribute, i) => ({label: attribute, class: 'key', cell: (item) => (i === 0
            ? h('button', {type: 'button', class: 'link mono', 'aria-label': keys.length > 1 ? keys.map((key) => cut(value(item[key]), 60)).join(' / ') : null, onclick: () => edit(item)}, cut(value(item[attribute]), 60))
            : [h('code', null, cut(value(item[attribute]), 60)), timeOf(attribute, item)])})),
          ...others.map((attribute) => ({label: attribute, cell: (item) => h('span', {class: 'cut'}, cut(value(item[attribute]), 80), timeOf(attribute, item))})),
        ]}),
      h('div', {class: 'bar'},
        after.length > 1 && action('Previous page', async () => { after.pop(); await draw(); }, {key: 'previous'}),
        read.next && (read.items.length === 0
          ? action('Look further', () => further(read), {key: 'next'})
          : action('Next page', async () => { after.push(read.next); await draw(); }, {key: 'next'}))));
  };

  // Each answer is of some thousand items, so that a large table keeps no one waiting. This goes on until an item is found.
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

  /** times are the times of an item that is edited, whose text has the numbers. */
  const times = (item) => h('dl', null, Object.keys(item).filter((attribute) => isTime(attribute, item))
    .map((attribute) => [h('dt', null, attribute), h('dd', null, moment(item[attribute].N))]));

  const edit = (item) => {
    const faults = h('div', {'aria-live': 'assertive'});
    const text = h('textarea', {spellcheck: 'false', 'aria-label': 'Item as JSON'});
    const safe = item === null || exact(item);
    const types = h('input', {type: 'checkbox'});
    types.checked = !safe;
    types.disabled = !safe;
    const fill = (of) => { text.value = JSON.stringify(types.checked ? of : plain(of), null, 2); };
    const current = () => {
      const document = JSON.parse(text.value);
      if (document === null || typeof document !== 'object' || Array.isArray(document)) throw new Error('An item is an object: {"attribute": "value"}.');
      return document;
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
    fill(item ?? Object.fromEntries(described.keys.map((key) => [key.attribute, {[key.type]: ''}])));
    const attempt = (work) => async () => {
      try {
        await work();
        close();
      } catch (error) {
        if (error.name !== 'AbortError') put(faults, problem(error, error instanceof SyntaxError ? 'The text is not JSON.' : 'Nothing was changed.'));
      }
    };
    const close = dialog(item === null ? 'Add an item' : `Item ${described.keys.map((key) => cut(value(item[key.attribute]), 60)).join(' / ')}`,
      text, item && times(item), faults,
      h('label', {class: 'check'}, types, safe ? 'With types, as DynamoDB has them' : 'With types: the item has sets, bytes or large numbers, which plain JSON cannot hold'),
      h('div', {class: 'bar end'},
        item !== null && action('Delete', attempt(() => write(item, null)), {sure: 'Delete the item?', kind: 'danger'}),
        copy(() => text.value),
        h('button', {type: 'button', onclick: () => close()}, 'Close'),
        action(item === null ? 'Add' : 'Save', attempt(() => write(item, types.checked ? current() : typed(current()))), {kind: 'primary'})));
    text.setSelectionRange(0, 0);
    text.scrollTop = 0;
  };

  const index = select([['', 'the table'], ...described.indexes.map((other) => other.name)], asked.index, {name: 'index'});
  const partition = h('input', {value: asked.partition, autocomplete: 'off', spellcheck: 'false'});
  const sort = h('input', {value: asked.sort, autocomplete: 'off', spellcheck: 'false'});
  const text = h('input', {type: 'search', value: asked.text, placeholder: 'in any attribute', autocomplete: 'off', spellcheck: 'false'});
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
    for (const [name, given] of Object.entries({stack, index: index.value, partition: partition.value, sort: sort.value, text: text.value})) if (given) query.set(name, given);
    go(`#/tables${at(wanted)}?${query}`);
  }}, field('Read', index), h('label', null, names[0], partition), sortField, field('Text', text), h('button', {class: 'primary'}, 'Filter'),
  h('a', {href: `#/tables${at(wanted)}?stack=${encodeURIComponent(stack)}`}, 'Clear'));
  await draw();
  return [
    h('ol', {class: 'crumbs', 'aria-label': 'Place'}, h('li', null, h('a', {href: '#/tables'}, 'Tables')), h('li', null, described.stack)),
    h('h1', {tabindex: '-1', title: wanted}, brief(wanted)),
    h('p', {class: 'muted'}, h('code', null, wanted), ` has ${plural(described.items, 'item')}. Key: ${keysOf(described.keys)}.${described.time_to_live ? ` Expires by ${described.time_to_live}.` : ''}`),
    form, h('div', {class: 'bar'}, h('button', {type: 'button', onclick: () => edit(null)}, 'Add an item'), action('Read again', draw)),
    place,
  ];
}

/** value writes an attribute in a line. */
function value(attribute) {
  if (attribute === undefined) return '';
  const [[kind, inner]] = Object.entries(attribute);
  if (kind === 'S' || kind === 'N' || kind === 'B') return inner;
  if (kind === 'NULL') return 'null';
  if (kind === 'BOOL') return String(inner);
  return JSON.stringify(plain({x: attribute}).x);
}
