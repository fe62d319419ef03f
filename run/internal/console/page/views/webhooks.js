// The endpoint for webhooks, with what came.

import {get, post, send} from '../api.js';
import {action, field, h, pre, put, say, select} from '../dom.js';
import {plural, pretty, when} from '../format.js';
import {every} from '../live.js';

export const name = 'webhooks';
export const title = 'Webhooks';

const most = 100;

const behaviours = [['', 'takes webhooks'], ['fail', 'fails with 500'], ['hang', 'hangs'],
  ['redirect', 'redirects to 169.254.169.254'], ['gone', 'answers 410: it wants no more']];

export async function show({signal}) {
  const place = h('div');
  const address = `${location.origin}/webhooks/in/`;
  let seen = '';
  const draw = async () => {
    const all = await get('/webhooks', {limit: most}, signal);
    const text = JSON.stringify(all);
    if (text === seen) return;
    seen = text;
    const changed = Object.entries(all.behaviours);
    put(place,
      changed.length > 0 && h('ul', null, changed.map(([path, behaviour]) =>
        h('li', null, h('code', null, path), ` ${Object.fromEntries(behaviours)[behaviour]}`))),
      all.webhooks.length === 0 && h('p', {class: 'empty'}, 'No webhook yet.'),
      all.webhooks.toReversed().map(card));
  };
  await draw();
  every(1500, draw, signal);
  const path = h('input', {required: true, autocomplete: 'off', spellcheck: 'false', value: '/agent'});
  const behaviour = select(behaviours, 'fail');
  const secrets = h('input', {autocomplete: 'off', spellcheck: 'false', placeholder: 'whsec_…'});
  const submit = (work) => async (event) => {
    event.preventDefault();
    try {
      await work();
      await draw();
    } catch (error) {
      say(error.message);
    }
  };
  return [
    h('h1', {tabindex: '-1'}, title),
    h('p', null, 'An endpoint that takes webhooks on each path below ', h('code', null, address), '.'),
    place,
    h('h2', null, 'Behaviour of a path'),
    h('form', {onsubmit: submit(async () => {
      await post('/webhooks/behaviours', {path: path.value, behaviour: behaviour.value}, signal);
      say(`${path.value} ${Object.fromEntries(behaviours)[behaviour.value]}`);
    })}, field('Path', path, 'wide'), field('It', behaviour), h('button', null, 'Set')),
    h('h2', null, 'Signatures'),
    h('form', {onsubmit: submit(async () => {
      const known = secrets.value.split(/[\s,]+/).filter(Boolean);
      await post('/webhooks/secrets', {secrets: known}, signal);
      say(known.length > 0 ? 'Signatures of the next webhooks are checked' : 'Signatures are not checked');
    })}, field('Secrets of the agent', secrets, 'wide'), h('button', null, 'Check signatures')),
    h('div', {class: 'bar'}, action('Clear', async () => {
      await send('DELETE', '/webhooks');
      await draw();
    }, {sure: 'Drop all webhooks?', kind: 'danger'})),
  ];
}

function card(one) {
  return h('section', {class: 'card', 'aria-label': `Webhook ${one.key}`},
    h('h2', {style: {'margin-top': '0'}}, 'POST ', h('code', null, one.path), ' ', when(one.received), ' ',
      h('span', {class: `badge ${one.status >= 200 && one.status < 300 ? '' : 'warn'}`}, one.status ||
        'no answer'), ' ',
      one.verified !== undefined && h('span', {class: `badge ${one.verified ? '' : 'warn'}`}, one.verified
        ? 'signature verified' : 'signature not verified')),
    pre('Body', pretty(one.body)),
    h('details', null, h('summary', null, plural(Object.keys(one.headers).length, 'header')),
      h('dl', null, Object.entries(one.headers)
        .map(([header, values]) => [h('dt', null, header), h('dd', null, h('code', null, values.join(', ')))]))));
}
