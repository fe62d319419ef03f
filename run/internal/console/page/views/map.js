// What a platform consists of, and what calls what: a drawing, and the same as tables.

import {at, get} from '../api.js';
import {field, h, put, select, svg, table} from '../dom.js';
import {cut, number, plural} from '../format.js';
import {layers} from '../layers.js';
import {every} from '../live.js';
import {brief, load, stackNames} from '../names.js';
import {Unknown} from '../unknown.js';

export const name = 'map';
export const title = 'Map';

// What the choice of all platforms is in the address.
const everything = 'all';

export async function show({parameters, signal, go, reload}) {
  await load();
  const stacks = stackNames();
  const stack = parameters.get('stack') ?? stacks[0];
  if (stack !== everything && !stacks.includes(stack)) throw new Unknown(`This run has no stack ${stack}.`);
  const place = h('div');
  const lists = h('div');
  const opened = new Set();
  let seen = '';
  let drawn = {};
  const draw = async () => {
    const answer = await get('/map', {stack: stack === everything ? '' : stack}, signal);
    const text = JSON.stringify(answer);
    if (text === seen) return;
    seen = text;
    const map = named(answer);
    const shape = JSON.stringify([map.parts.map(({id, routes}) => [id, routes?.map(({key}) => key)]),
      map.arrows.map(({from, to}) => [from.id, to.id])]);
    if (drawn.shape !== shape) {
      drawn = {shape, ...picture(map, opened)};
      put(place, drawn.element);
    }
    drawn.figures(map);
    put(lists, tables(map));
  };
  await draw();
  every(1500, draw, signal);
  const choice = select([...stacks, [everything, 'all of them']], stack, {onchange: () => {
    go(`#/map?stack=${encodeURIComponent(choice.value)}`, {replace: true});
    reload();
  }});
  return [h('h1', {tabindex: '-1'}, title), stacks.length > 1 && h('div', {class: 'bar'}, field('Platform', choice)),
    h('p', {class: 'muted'}, 'What calls what, as the assembly allows it, and how often that happened in this run; ',
      'after ✗ how often it failed. Dashed arrows take what failed to a dead-letter queue.'),
    place, lists];
}

/** named gives parts the names that people read, and arrows their parts. */
function named({parts, arrows}) {
  const short = new Map();
  for (const stack of new Set(parts.map((part) => part.stack))) {
    const own = parts.filter((part) => part.stack === stack && part.kind !== 'routes' && !part.label)
      .map((part) => [part.id, part.kind === 'lake' ? part.name : brief(part.name)]);
    const generated = own.map(([, text]) => text).filter((text) => /^[A-Z]/.test(text));
    // What all names of a stack begin with says nothing here. What is left begins with a capital.
    let shared = generated.length > 1 ? generated[0] : '';
    while (!generated.every((text) => text.startsWith(shared) && /[A-Z]/.test(text[shared.length] ?? ''))) {
      shared = shared.slice(0, -1);
    }
    for (const [id, text] of own) short.set(id, text.startsWith(shared) ? text.slice(shared.length) : text);
  }
  const shown = new Map(parts.map((part) => [part.id, {...part, text: textOf(part, short)}]));
  return {parts: [...shown.values()],
    arrows: arrows.map((arrow) => ({...arrow, from: shown.get(arrow.from), to: shown.get(arrow.to)}))};
}

function textOf(part, short) {
  if (part.kind !== 'routes') return part.label || short.get(part.id);
  const count = new Map();
  for (const {key} of part.routes) {
    const begin = key.replace(/^\S+ (\/[^/]*).*/, '$1');
    count.set(begin, (count.get(begin) ?? 0) + 1);
  }
  const [begin, most] = [...count].sort((a, b) => b[1] - a[1])[0];
  return part.routes.length === 1 ? part.routes[0].key : most > 1 ? `${begin} …` : part.name;
}

const requestsOf = (search, stack) => `#/requests?${new URLSearchParams({search, ...(stack && {stack})})}`;

// The views of parts. In the drawing routes open.
const views = {
  routes: (part) => requestsOf(part.name, part.stack),
  schedule: () => '#/schedules',
  'user pool': () => '#/user-pools',
  function: (part) => `#/functions${at(part.name)}`,
  table: (part) => `#/tables${at(part.name)}?stack=${encodeURIComponent(part.stack)}`,
  stream: () => '#/streams',
  queue: (part) => `#/queues${at(part.name)}`,
  bus: () => '#/buses',
  bucket: (part) => `#/buckets${at(part.name)}?prefix=`,
  lake: (part) => `#/lake?lake=${encodeURIComponent(`${part.stack} ${part.name}`)}`,
};

const routeHref = (part, route) => requestsOf(route.key, part.stack);
const arrowHref = (arrow) => (arrow.search ? requestsOf(arrow.search) : null);

// What the run counts of what goes along arrows.
const counts = ['requests', 'invocations', 'calls', 'records'];
const counted = (arrow) => counts.includes(arrow.carries);

/** what says what goes along an arrow: "calls: reads, writes". */
function what({carries, access, rules, dead_letter: dead}) {
  const more = [access, rules?.map(brief)].flat().filter(Boolean).join(', ');
  return [dead ? 'dead letters' : carries, more].filter(Boolean).join(': ');
}

/** figure is how often something happened and, after a cross, how often it failed. */
const figure = ({all, failed}) => (all > 0 ? number(all) + (failed > 0 ? ` ✗${number(failed)}` : '') : '');

const kindOf = (part) => (part.kind === 'routes' ? plural(part.routes.length, 'route')
  : part.messages ? `queue, ${plural(part.messages, 'message')}` : part.kind);

const tall = 44;
const wide = 160;
const openWide = 310;
// A drawing becomes this much smaller before it scrolls.
const least = 0.85;
const perRoute = 20;
const edge = 10;

const pen = document.createElement('canvas').getContext('2d');

/** fitted cuts a text to what a box of the width has space for, in the font of page.css. */
function fitted(words, width, font, family = getComputedStyle(document.body).fontFamily) {
  pen.font = `${font} ${family}`;
  let shown = words;
  for (let length = words.length; length > 1 && pen.measureText(shown).width > width - 2 * edge;) {
    shown = cut(words, --length);
  }
  return shown;
}

/** picture draws a map. figures puts the figures of a map of the same shape into it. */
function picture(map, opened) {
  const element = h('div');
  let latest = map;
  let fill;
  const open = (part) => {
    if (!opened.delete(part.id)) opened.add(part.id);
    draw();
  };
  const draw = () => {
    const size = ({id, routes}) => (opened.has(id)
      ? {width: openWide, height: tall + perRoute * routes.length} : {width: wide, height: tall});
    const {width, height, boxes, arrows} = layers(map.parts,
      map.arrows.map((arrow) => ({...arrow, from: arrow.from.id, to: arrow.to.id})), size);
    const ways = map.arrows.map((arrow, i) => way(arrow, arrows[i]));
    const parts = map.parts.map((part) => box(part, boxes.get(part.id), opened, open));
    // The arrows of the part that has the pointer or the focus stand out.
    const point = (of) => ways.forEach(({element: one}, i) => {
      one.classList.toggle('off', Boolean(of) && ![map.arrows[i].from.id, map.arrows[i].to.id].includes(of));
    });
    const on = (event) => point(event.target.closest('[data-part]')?.dataset.part);
    const off = () => point();
    const words = `${plural(map.parts.length, 'part')} and ${plural(map.arrows.length, 'arrow')}. ` +
      'The tables below have the same.';
    put(element, h('div', {class: 'scroll drawing', role: 'region', 'aria-label': 'Drawing', tabindex: '0'},
      svg('svg', {class: 'map', viewBox: `-8 -8 ${width + 16} ${height + 16}`,
        style: {'max-width': `${width + 16}px`, 'min-width': `${least * (width + 16)}px`}, role: 'group',
        'aria-label': words, onpointerover: on, onpointerleave: off, onfocusin: on, onfocusout: off},
      ways.map((one) => one.element), parts.map((one) => one.element))));
    fill = (of) => {
      of.arrows.forEach((arrow, i) => ways[i].fill(arrow));
      of.parts.forEach((part, i) => parts[i].fill(part));
    };
    fill(latest);
  };
  draw();
  return {element, figures: (of) => {
    latest = of;
    fill(of);
  }};
}

/** way draws an arrow. */
function way(arrow, {line, head, label}) {
  const text = svg('text', label);
  const words = svg('title');
  const href = arrowHref(arrow);
  // By keyboard the table has the same links.
  const element = svg(href ? 'a' : 'g', {href, tabindex: href && '-1'},
    words, svg('path', {class: 'near', d: line}), svg('path', {class: 'line', d: line}),
    svg('path', {class: 'head', d: head}), text);
  return {element, fill: (of) => {
    element.classList.add('way');
    element.classList.toggle('dead', Boolean(of.dead_letter));
    element.classList.toggle('used', of.all > 0);
    element.classList.toggle('failed', of.failed > 0);
    text.textContent = figure(of);
    words.textContent = `${of.from.text} → ${of.to.text}, ${what(of)}`
      + (counted(of) ? `: ${number(of.all)}, ${number(of.failed)} failed` : '');
  }};
}

/** box draws a part. Routes open and close, and the others lead to their views. */
function box(part, {x, y, width, height}, opened, open) {
  const kind = svg('text', {class: 'kind', x: x + edge, y: y + 17});
  const text = svg('text', {class: 'name', x: x + edge, y: y + 34}, fitted(part.text, width, '600 12px'));
  const content = [svg('title', null, `${part.kind} ${part.name}`),
    svg('rect', {x, y, width, height, rx: 7}), kind, text];
  const attributes = {class: `part ${part.kind.replace(' ', '-')}`, 'data-part': part.id, 'data-key': part.id};
  if (part.kind !== 'routes') {
    return {element: svg('a', {...attributes, href: views[part.kind](part)}, content), fill: (of) => {
      kind.textContent = fitted(kindOf(of), width, '11px');
    }};
  }
  const shown = opened.has(part.id);
  const turn = (event) => {
    if (event.type === 'keydown' && event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    open(part);
  };
  const button = svg('g', {...attributes, role: 'button', tabindex: '0', 'aria-expanded': String(shown), onclick: turn,
    onkeydown: turn}, content);
  const rows = shown ? part.routes.map((route, i) => {
    const row = svg('text', {x: x + edge, y: y + tall + perRoute * (i + 0.6)});
    return {route, row, link: svg('a', {class: 'route', href: routeHref(part, route), 'data-part': part.id,
      'data-key': `${part.id} ${route.key}`}, svg('title', null, route.key), row)};
  }) : [];
  return {element: [button, rows.map((one) => one.link)], fill: (of) => {
    const failed = of.routes.reduce((sum, route) => sum + route.failed, 0);
    kind.textContent = fitted(`${shown ? '▾' : '▸'} ${kindOf(of)}${failed > 0 ? `, ${number(failed)} failed` : ''}`,
      width, '11px');
    const mono = getComputedStyle(document.documentElement).getPropertyValue('--mono');
    rows.forEach(({row}, i) => {
      const times = ` ${figure(of.routes[i])}`;
      row.textContent = fitted(of.routes[i].key, width - times.length * 7, '11px', mono) + times;
      row.classList.toggle('bad', of.routes[i].failed > 0);
    });
  }};
}

/** tables have what the drawing has, for small windows, and for those who listen. */
function tables({parts, arrows}) {
  const cell = (part) => [h('span', {class: 'muted'}, kindOf(part)), ' ', h('a', {
    href: views[part.kind](part), title: part.name, 'data-key': `${part.id} in the table`}, part.text)];
  const times = (of, href) => (of.all > 0 && href ? h('a', {href}, number(of.all)) : number(of.all));
  const failures = (of) => h('span', {class: of.failed ? 'bad' : null}, number(of.failed));
  const routes = parts.flatMap((part) => (part.routes ?? []).map((route) => ({part, ...route})));
  return [
    table({caption: 'What calls what', rows: arrows, empty: 'Nothing calls anything here.', columns: [
      {label: 'From', cell: (arrow) => cell(arrow.from)},
      {label: 'To', cell: (arrow) => cell(arrow.to)},
      {label: 'What', class: 'roomy', cell: what},
      {label: 'Times', number: true, cell: (arrow) => (counted(arrow) ? times(arrow, arrowHref(arrow)) : '–')},
      {label: 'Failed', number: true, cell: (arrow) => (counted(arrow) ? failures(arrow) : '–')},
    ]}),
    routes.length > 0 && table({caption: 'Routes', rows: routes, columns: [
      {label: 'Route', cell: (route) => h('code', null, route.key)},
      {label: 'API', class: 'roomy', cell: (route) => route.part.name},
      {label: 'Requests', number: true, cell: (route) => times(route, routeHref(route.part, route))},
      {label: 'Failed', number: true, cell: failures},
    ]}),
  ];
}
