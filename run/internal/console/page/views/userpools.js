// User pools and their app clients.

import {at, get} from '../api.js';
import {h, table} from '../dom.js';
import {number} from '../format.js';
import {brief, load, named} from '../names.js';

export const name = 'user-pools';
export const title = 'User pools';

const flows = {code: 'people, on its pages', client_credentials: 'programs'};
const otherwise = 'people, by API calls';

export async function show({signal}) {
  const [pools] = await Promise.all([get('/user-pools', null, signal), load()]);
  return [
    h('h1', {tabindex: '-1'}, title),
    pools.length === 0 && h('p', {class: 'empty'}, 'The assembly has no user pool.'),
    pools.map(card),
  ];
}

function card(pool) {
  const row = (label, ...content) => [h('dt', null, label), h('dd', null, content)];
  return h('section', {class: 'card', 'aria-label': brief(pool.name)},
    h('h2', {style: {'margin-top': '0'}, title: pool.name}, brief(pool.name)),
    h('dl', null,
      row('Stack', pool.stack), row('Issuer', h('code', null, pool.issuer)),
      pool.domain && row('Its pages on AWS', h('code', null, pool.domain)),
      pool.groups.length > 0 && row('Groups', pool.groups.join(', ')),
      pool.post_confirmation && row('After a sign-up',
        h('a', {href: `#/functions${at(pool.post_confirmation)}`}, brief(pool.post_confirmation)),
        `: ${number(pool.sign_ups)} done, `,
        h('span', {class: pool.failures > 0 && 'bad'}, `${number(pool.failures)} failed`))),
    table({caption: `App clients of ${brief(pool.name)}`, rows: pool.clients, empty: 'It has no app client.', columns: [
      {label: 'Client', cell: (client) => named(client.name)},
      {label: 'Id', cell: (client) => h('code', null, client.id)},
      {label: 'Tokens for', cell: (client) => client.flows.map((flow) => flows[flow]).join(', ') || otherwise},
      {label: 'Scopes', cell: (client) => client.scopes.map((scope) => h('div', null, h('code', null, scope)))},
      {label: 'Comes back to', cell: (client) => client.callbacks.map((one) => h('div', null, h('code', null, one)))},
      {label: 'Secret', cell: (client) => (client.has_secret ? 'has one' : 'none')},
    ]}));
}
