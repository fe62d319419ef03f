// The log lines of all functions, as they come.

import {get} from '../api.js';
import {field, h, searchField, select} from '../dom.js';
import {feed} from '../feed.js';
import {plural} from '../format.js';
import {levels, line} from '../lines.js';

export const name = 'lines';
export const title = 'Log lines';

// The list never has more lines than this: the oldest leave it.
const most = 300;

export async function show({parameters, signal, go}) {
  let text = parameters.get('search') ?? '';
  let level = parameters.get('level') ?? '';
  let rows = [];
  const elements = new WeakMap();
  const list = h('ul', {class: 'lines', tabindex: '0', 'aria-label': 'Log lines, newest first'});
  const empty = h('p', {class: 'empty'}, 'No line yet.');
  const count = h('span', {class: 'muted', role: 'status'});

  const draw = () => {
    const wanted = rows.map((one) => {
      if (!elements.has(one)) elements.set(one, line(one, {named: true}));
      return elements.get(one);
    });
    if (wanted.length !== list.children.length || wanted[0] !== list.firstChild) list.replaceChildren(...wanted);
    list.hidden = rows.length === 0;
    empty.hidden = rows.length > 0;
    count.textContent = live.waiting('line') || (rows.length > 0 ? `The newest ${plural(rows.length, 'line')}` : '');
  };
  const live = feed('line', {
    list, draw, read: () => get('/lines', {search: text, level, limit: most}, signal), fill: (answer) =>
      { rows = answer.reverse(); },
    take: (one) => { if (!(one.seq <= rows[0]?.seq)) rows = [one, ...rows].slice(0, most); },
    wanted: (one) => levels.indexOf(one.level) >= levels.indexOf(level)
      && [one.text, one.label].some((value) => value.toLowerCase().includes(text.toLowerCase())),
  }, signal);

  const look = () => {
    const asked = new URLSearchParams(Object.entries({search: text, level}).filter(([, value]) => value));
    go(`#/lines${asked.size > 0 ? `?${asked}` : ''}`, {replace: true});
    return live.load();
  };
  const lowest = select([['', 'all'], ['info', 'from info'], ['warn', 'from warn'], ['error', 'error']], level,
    {onchange: () => {
    level = lowest.value;
    look();
  }});
  const search = searchField(text, 'text or function', (typed) => {
    text = typed;
    look();
  });
  await live.load();
  return [
    h('h1', {tabindex: '-1'}, title),
    h('div', {class: 'bar', role: 'search'}, field('Search', search, 'wide'), field('Level', lowest),
      live.pause, count),
    empty, list,
  ];
}
