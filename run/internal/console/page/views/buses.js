// Buses, and the events that came to them, with who received them.

import {get} from '../api.js';
import {field, h, pre, put, table} from '../dom.js';
import {number, plural, pretty, when} from '../format.js';
import {every} from '../live.js';
import {brief, load, named} from '../names.js';

export const name = 'buses';
export const title = 'Events';

const most = 100;

const badges = {delivered: 'good', failed: 'bad', waiting: 'warn'};

/** received is what became of an event at one target. */
function received(one) {
  const place = one.kind === 'queue' ? 'queues' : 'functions';
  return h('li', null, h('a', {href: `#/${place}/${encodeURIComponent(one.target)}`, title: one.target},
    brief(one.target)), ' ',
    h('span', {class: `badge ${badges[one.state]}`}, one.state), one.times > 1 && ` ${number(one.times)} times`,
      one.attempts > 1 && one.times === 0 && ` after ${number(one.attempts)} attempts`,
    ' by the rule ', named(one.rule), one.error && h('div', {class: 'bad'}, one.error),
    one.dead_letter && h('div', null, 'It is in ',
      h('a', {href: `#/queues/${encodeURIComponent(one.dead_letter.slice(one.dead_letter.lastIndexOf(':') + 1))}`},
        'the dead-letter queue'), '.'));
}

function card(one) {
  return h('section', {class: 'card', 'aria-label': `Event ${one.id}`},
    h('h2', {style: {'margin-top': '0'}}, one.detail_type, ' ', when(one.at)),
    h('p', {class: 'muted'}, 'On ', named(one.bus), ', from ', h('code', null, one.source),
      one.function && [', by ', one.from ? h('a', {href: `#/requests/${encodeURIComponent(one.from)}`}, one.function)
        : one.function], '. ',
      h('a', {href: `#/requests?search=${encodeURIComponent(one.id)}`}, 'What it led to')),
    one.dropped && h('p', {class: 'bad'}, 'The assembly has no such bus, so the event was dropped, as on AWS.'),
    one.deliveries.length > 0 ? h('ul', null, one.deliveries.map(received)) : !one.dropped &&
      h('p', null, 'No rule matched.'),
    h('details', {'data-key': one.id}, h('summary', null, 'Detail'),
      pre('Detail', pretty(one.detail), one.cut && '…')));
}

export async function show({parameters, signal, go}) {
  const place = h('div');
  const search = h('input', {type: 'search', autocomplete: 'off', spellcheck: 'false',
    value: parameters.get('search') ?? ''});
  let seen = '';
  await load();
  const draw = async () => {
    const [buses, published] = await Promise.all([get('/buses', null, signal),
      get('/buses/events', {limit: most, search: search.value.trim()}, signal)]);
    const text = JSON.stringify([buses, published]);
    if (text === seen) return;
    seen = text;
    const open = new Set([...place.querySelectorAll('details[open]')].map((one) => one.dataset.key));
    const rules = buses.flatMap((bus) => bus.rules.map((rule) => ({bus, ...rule})));
    put(place, published.events.length === 0 && h('p', {class: 'empty'}, 'No event yet.'), published.events.map(card),
      table({caption: `Rules of ${plural(buses.length, 'bus', 'buses')}`, rows: rules,
        empty: 'No rule of the assembly fires here.', columns: [
        {label: 'Rule', cell: (rule) => named(rule.name)},
        {label: 'Bus', cell: (rule) => named(rule.bus.name)},
        {label: 'Targets', cell: (rule) => rule.targets.map((one) => brief(one.name)).join(', ')},
        {label: 'Fires on', cell: (rule) => [rule.pattern && h('code', null, JSON.stringify(rule.pattern)), ' ',
          rule.expression && h('code', null, rule.expression)]},
      ]}));
    for (const one of place.querySelectorAll('details')) one.open = open.has(one.dataset.key);
  };
  search.addEventListener('input', () => {
    const text = search.value.trim();
    go(text ? `#/buses?search=${encodeURIComponent(text)}` : '#/buses', {replace: true});
    draw();
  });
  await draw();
  every(1500, draw, signal);
  return [h('h1', {tabindex: '-1'}, title), h('div', {class: 'bar', role: 'search'},
    field('Search', search, 'wide')), place];
}
