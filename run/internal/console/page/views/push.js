// The push inbox, as phones show it.

import {get, post, send} from '../api.js';
import {action, field, h, pre, put, say, select} from '../dom.js';
import {plural, when} from '../format.js';
import {every} from '../live.js';

export const name = 'push';
export const title = 'Push';

const most = 300;
const phones = 12;
const perPhone = 20;

const faults = [['', 'delivers'], 'UNREGISTERED', 'INVALID_ARGUMENT', 'QUOTA_EXCEEDED', 'UNAVAILABLE',
  'THIRD_PARTY_AUTH_ERROR', 'SENDER_ID_MISMATCH', 'INTERNAL'];

export async function show({signal}) {
  const place = h('div');
  let seen = '';
  const draw = async () => {
    const messages = (await get('/push', {limit: most}, signal)).reverse();
    const text = JSON.stringify(messages);
    if (text === seen) return;
    seen = text;
    const devices = new Map();
    for (const message of messages) {
      const device = message.token || message.message.topic || message.message.condition || '';
      if (!devices.has(device)) devices.set(device, []);
      devices.get(device).push(message);
    }
    put(place, messages.length === 0
      ? h('p', {class: 'empty'}, 'No push message yet. They come here instead of Firebase Cloud Messaging.')
      : h('div', {class: 'phones'}, [...devices].slice(0, phones).map(([device, own]) => phone(device, own))),
    devices.size > phones && h('p', {class: 'muted'},
      `${plural(devices.size - phones, 'further device')} with older messages.`));
  };
  await draw();
  every(1500, draw, signal);
  const token = h('input', {required: true, autocomplete: 'off', spellcheck: 'false'});
  const fault = select(faults, 'UNREGISTERED');
  return [
    h('h1', {tabindex: '-1'}, title), place,
    h('h2', null, 'Failures of a device'),
    h('form', {onsubmit: async (event) => {
      event.preventDefault();
      try {
        await post('/push/faults', {token: token.value, error: fault.value}, signal);
        say(fault.value ? `Messages to ${token.value} fail with ${fault.value}`
          : `Messages to ${token.value} are delivered`);
      } catch (error) {
        say(error.message);
      }
    }}, field('Token of the device', token, 'wide'), field('Answer', fault), h('button', null, 'Set')),
    h('div', {class: 'bar'}, action('Clear the inbox', async () => {
      await send('DELETE', '/push');
      await draw();
    }, {sure: 'Drop all messages?', kind: 'danger'})),
  ];
}

function phone(device, messages) {
  return h('section', {class: 'phone', 'aria-label': `Phone ${device}`}, h('h2', null, device || 'no device'),
    h('ul', null, messages.slice(0, perPhone).map((one) => {
      const {notification, data} = one.message;
      return h('li', null,
        h('p', {class: 'head'}, h('span', null, one.project), when(one.received)),
        notification?.title && h('h3', null, notification.title),
        notification?.body && h('p', null, notification.body),
        !notification && h('p', null, 'A message without a notification'),
        data && h('details', null, h('summary', null, 'Data'),
          pre('Data', JSON.stringify(data, null, 2))));
    })),
    messages.length > perPhone && h('p', null, `${plural(messages.length - perPhone, 'older message')}`));
}
