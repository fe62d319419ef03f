// Queues, and failed messages once more.

import {at, get, post, send} from '../api.js';
import {action, h, pre, put, say, table} from '../dom.js';
import {number, plural, pretty, when} from '../format.js';
import {every} from '../live.js';
import {brief, byStack, load} from '../names.js';

export const name = 'queues';
export const title = 'Queues';
export const parts = 1;

export async function show(context) {
  return context.parts.length > 0 ? one(context) : list(context);
}

async function list({signal}) {
  const place = h('div');
  await load();
  const draw = async () => put(place, byStack(await get('/queues', null, signal), (queue) => queue.name)
    .map(([stack, own]) => table({caption: stack || 'Queues', rows: own, class: 'even', columns: [
    {label: 'Queue', cell: (queue) => h('a', {href: `#/queues${at(queue.name)}`, 'data-key': queue.name,
      title: queue.name}, brief(queue.name))},
    {label: 'Messages', number: true, cell: (queue) =>
      h('span', {class: `badge ${queue.messages && !queue.functions ? 'warn' : ''}`}, number(queue.messages))},
    {label: 'Handed to', cell: (queue) => (queue.functions ?? []).map((to) => brief(to.function)).join(', ')},
  ]})));
  await draw();
  every(2000, draw, signal);
  return [h('h1', {tabindex: '-1'}, title), place];
}

const most = 50;

async function one({parts, signal}) {
  const [wanted] = parts;
  await load();
  const path = `/queues${at(wanted)}`;
  const place = h('div');
  const text = h('textarea', {rows: '3', spellcheck: 'false', 'aria-label': 'Message'});
  let seen = '';
  const draw = async () => {
    const queue = await get(path, {limit: most}, signal);
    const state = JSON.stringify(queue);
    if (state === seen) return;
    seen = state;
    const messages = queue.content ?? [];
    put(place, h('p', {class: 'muted'}, queue.messages === 0 ? '' : queue.messages > messages.length
      ? `The oldest ${messages.length} of ${plural(queue.messages, 'message')}.`
        : plural(queue.messages, 'message') + '.'),
      queue.functions && messages.length > 0 && h('div', {class: 'bar'}, action('Make all due', async () => {
        const due = await post(`${path}/due`, {});
        say(`${plural(due.messages, 'message')} made due`);
        await draw();
      }, {key: 'due'}), h('span', {class: 'muted'}, 'Messages no longer wait for their next attempt.')),
      messages.length === 0 && h('p', {class: 'empty'}, 'The queue is empty.'),
      messages.map((message) => card(path, message, draw)));
  };
  await draw();
  every(2000, draw, signal);
  return [h('ol', {class: 'crumbs', 'aria-label': 'Place'}, h('li', null, h('a', {href: '#/queues'}, 'Queues')),
    h('li', null, wanted)), h('h1', {tabindex: '-1', title: wanted}, brief(wanted)), place,
  h('details', {'data-key': 'send'}, h('summary', null, 'Send a message'), text,
    h('div', {class: 'bar'}, action('Send', async () => {
      const sent = await post(`${path}/messages`, {body: text.value});
      say(`sent the message ${sent.id}`);
      text.value = '';
      await draw();
    }, {key: 'send'})))];
}

/** failureOf says in a paragraph how often it was tried, and how the last attempt ended, which leads to its trace. */
function failureOf({attempts, request, function: by, at: began, error}) {
  return h('p', null, attempts > 0 && `Tried ${plural(attempts, 'time')}. `,
    request && ['Last at ', when(began), ' by ', h('a', {href: `#/requests${at(request)}`}, by), '. '],
    error && h('span', {class: 'bad'}, error));
}

function card(path, message, draw) {
  const own = `${path}/messages${at(message.id)}`;
  const attributes = Object.entries(message.attributes ?? {});
  const body = pre('Body', pretty(message.body));
  const hint = `does-${message.id}`;
  return h('section', {class: 'card', 'aria-label': `Message ${message.id}`},
    h('h2', {style: {'margin-top': '0'}}, 'Message of ', when(message.sent), ' ', 
      message.received > 0 && h('span', {class: 'badge'}, `received ${plural(message.received, 'time')}`), ' ',
      new Date(message.visible_at) > new Date() &&
        h('span', {class: 'badge'}, 'hidden until ', when(message.visible_at))),
    message.failure && failureOf(message.failure),
    body,
    message.cut && h('p', null, action('Show all of it', async () => {
      const whole = await get(own);
      body.textContent = pretty(whole.body);
    })),
    attributes.length > 0 && h('details', null, h('summary', null, plural(attributes.length, 'attribute')),
      h('dl', null, attributes.map(([name, attribute]) =>
        [h('dt', null, name), h('dd', null, h('code', null, attribute.StringValue ?? attribute.BinaryValue ?? ''))]))),
    h('div', {class: 'bar'},
      message.again && action('Again', async () => {
        const done = await post(`${own}/again`, {});
        say(done.function ? `${done.function} took it, and the message is removed` : 'The message is sent');
        await draw();
      }, {kind: 'primary', key: `again-${message.id}`, describedby: hint}),
      action('Remove', async () => {
        await send('DELETE', own);
        say('The message is removed');
        await draw();
      }, {sure: 'Remove it for good?', kind: 'danger', key: `remove-${message.id}`}),
      h('span', {class: 'muted', id: hint}, message.again ? `Again: ${message.again}.`
        : `It cannot be done again: ${message.cannot}.`)));
}
