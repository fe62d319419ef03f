// Where everything is, and a token to try it.

import {get, post} from '../api.js';
import {copy, field, h, problem, put, select, table} from '../dom.js';

export const name = 'platforms';
export const title = 'Platforms';

export async function show({signal}) {
  const [index, outputs, database] = await Promise.all([get('/', null, signal), get('/outputs', null, signal),
    get('/dynamodb', null, signal)]);
  const apis = index.apis ?? [];
  const stacks = outputs.map((stack) => ({...stack, apis: apis.filter((api) => api.stack === stack.stack)}));
  return [
    h('h1', {tabindex: '-1'}, title),
    h('div', {class: 'cards'}, stacks.map(card)),
    tokens(apis),
    h('h2', null, 'For programs'),
    h('div', {class: 'card'}, h('dl', null,
      h('dt', null, 'This console as JSON'), h('dd', null, h('code', null, `curl ${location.origin}`)),
      h('dt', null, 'AWS endpoint'), h('dd', null, h('code', null, index.aws_endpoint)),
      h('dt', null, 'DynamoDB'), h('dd', null, h('code', null, database.endpoint)),
      h('dt', null, 'Its region and access key'),
        h('dd', null, h('code', null, database.region), ', ', h('code', null, database.access_key), ', any secret'))),
  ];
}

function card(stack) {
  const outputs = Object.entries(stack.outputs).sort(([a], [b]) => (a < b ? -1 : 1));
  return h('section', {class: 'card', 'aria-label': stack.stack},
    h('h2', {style: {'margin-top': '0'}}, stack.stack),
    h('p', {class: 'muted'}, `${stack.region}, account ${stack.account}`),
    stack.apis.length === 0 && h('p', null, 'This stack has no HTTP API.'),
    stack.apis.map((api) => h('dl', null,
      h('dt', null, 'API'), h('dd', null, h('a', {href: api.url}, api.url), ' ',
        h('a', {href: `#/try?api=${encodeURIComponent(api.url)}`, 'aria-label': `Try ${api.stack}`}, 'Try')),
      api.pages?.map((page) => [h('dt', null, page.name), h('dd', null, h('a', {href: page.url}, page.url))]),
      api.openapi && [h('dt', null, 'OpenAPI'),
        h('dd', null, h('a', {href: api.openapi}, new URL(api.openapi).pathname))],
      h('dt', null, 'Tokens'), h('dd', null, api.issuer ? 'needed, see below' : 'not needed'))),
    outputs.length > 0 && h('details', null, h('summary', null, `Outputs (${outputs.length})`),
      table({caption: `Outputs of ${stack.stack}`, rows: outputs, columns: [
        {label: 'Name', cell: ([output]) => output}, {label: 'Value', cell: ([, value]) => h('code', null, value)}]})));
}

function tokens(apis) {
  const closed = apis.filter((api) => api.issuer);
  if (closed.length === 0) return [h('h2', null, 'Token'), h('p', null, 'No API of this run asks for a token.')];
  const stack = select([['', 'all stacks'], ...new Set(closed.map((api) => api.stack))], '', {name: 'stack'});
  const subject = h('input', {name: 'sub', value: 'alice', required: true, autocomplete: 'off', spellcheck: 'false'});
  const scope = h('input', {name: 'scope', placeholder: 'none', autocomplete: 'off', spellcheck: 'false'});
  const expires = select(['15m', '1h', '12h'], '1h', {name: 'expires'});
  const result = h('div', {'aria-live': 'polite'});
  const form = h('form', {onsubmit: async (event) => {
    event.preventDefault();
    try {
      const token = await post('/token', {sub: subject.value, stack: stack.value || undefined, scope: scope.value ||
        undefined, expires: expires.value});
      const api = closed.find((one) => !stack.value || one.stack === stack.value);
      const command = `curl -H 'Authorization: Bearer ${token.access_token}' ${api.url}`;
      const text = h('textarea', {readonly: true, rows: '4', 'aria-label': 'Token'});
      text.value = token.access_token;
      put(result, text, h('p', {class: 'muted'},
        `For ${token.audience.join(', ') || 'any audience'}, by ${token.issuer}.`),
        h('div', {class: 'bar'}, copy(() => token.access_token, 'Copy token'), copy(() => command, 'Copy as curl')));
    } catch (error) {
      put(result, problem(error, 'No token was made.'));
    }
  }}, field('Subject', subject), field('Stack', stack), field('Scope', scope), field('Valid for', expires),
    h('button', {class: 'primary'}, 'Make a token'));
  return [h('h2', null, 'Token'), h('div', {class: 'card'}, form, result)];
}
