// Requests to the APIs of the run, made of their OpenAPI documents.

import {at, get, post} from '../api.js';
import {copy, field, h, pre, problem, put, select} from '../dom.js';
import {contents, curl} from '../exchange.js';
import {status, took} from '../format.js';
import {on} from '../live.js';
import {load} from '../names.js';
import {operations} from '../openapi.js';
import {waterfall} from './requests.js';

export const name = 'try';
export const title = 'Try';

// The documents of APIs by address, until the run has other code.
const documents = new Map();
on('change', () => documents.clear());

async function operationsOf(api, signal) {
  if (!api.openapi) return [];
  if (!documents.has(api.url)) {
    const path = api.openapi.slice(api.url.length);
    const answer = await post('/try', {api: api.url, method: 'GET', path}, signal);
    if (answer.status !== 200) throw new Error(`${api.openapi} answers with status ${answer.status}.`);
    documents.set(api.url, operations(JSON.parse(answer.body)));
  }
  return documents.get(api.url);
}

/** free is a request that no document describes. */
const free = {
  id: 'other', path: '/', token: true, parameters: [], body: {type: 'application/json', fields: [], text: ''},
};

export async function show({parameters, signal, go}) {
  const [{apis}] = await Promise.all([get('/', null, signal), load()]);
  const heading = h('h1', {tabindex: '-1'}, title);
  if (!apis?.length) return [heading, h('p', {class: 'empty'}, 'The assembly has no HTTP API.')];
  let api = apis.find((one) => one.url === parameters.get('api')) ?? apis.find((one) => one.openapi) ?? apis[0];
  const wantedAPI = select(apis.map((one) => [one.url, `${one.stack}: ${one.name}`]), api.url);
  const wanted = h('select');
  const place = h('div');
  let known = [];

  const draw = (fault) => put(place, fault, form(api, known.find((one) => one.id === wanted.value) ?? free, signal));
  const remember = () => go(`#/try?${new URLSearchParams({api: api.url, request: wanted.value})}`, {replace: true});
  const open = async (id) => {
    const opened = api;
    let found = [];
    let fault;
    try {
      found = await operationsOf(opened, signal);
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      fault = problem(error, 'There is no OpenAPI document.');
    }
    // Another may have been chosen meanwhile.
    if (api !== opened) return;
    known = found;
    put(wanted, known.map((one) => h('option', {value: one.id}, `${one.id} – ${one.summary}`)),
      h('option', {value: free.id}, 'Any other request'));
    wanted.value = known.some((one) => one.id === id) ? id : wanted.options[0].value;
    draw(fault);
  };
  wantedAPI.addEventListener('change', async () => {
    api = apis.find((one) => one.url === wantedAPI.value);
    await open();
    remember();
  });
  wanted.addEventListener('change', () => {
    draw();
    remember();
  });
  await open(parameters.get('request'));
  return [heading, h('div', {class: 'bar'}, field('API', wantedAPI), field('Request', wanted, 'wide')), place];
}

/** control makes the control of a field, which is empty where the request leaves the field out. */
function control({type, choices, description}, attributes) {
  const of = {title: description, autocomplete: 'off', spellcheck: 'false', ...attributes};
  if (!choices && type === 'boolean') choices = [true, false];
  if (!choices) return h('input', of);
  return select([['', '–'], ...choices.filter((one) => one !== '' && one !== null).map(String)], '', of);
}

/** labelled says of a field where it goes, and whether it may be left out. */
function labelled({name, required, in: part, control}) {
  const said = [part, required && 'required'].filter(Boolean).join(', ');
  return field(said ? `${name} (${said})` : name, control);
}

const written = (value) => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value));

/** valueOf reads a control. What is not of the type goes as a text: to be refused may be what someone wants to see. */
function valueOf(type, text) {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** bodyControls are a control for each field of a body, and the body as text, which is sent. Each follows the other. */
function bodyControls(body) {
  const text = h('textarea', {rows: '8', spellcheck: 'false', 'aria-label': 'Body', value: body.text});
  const controls = body.fields.map((one) => ({...one, control: control(one)}));
  const parsed = () => {
    try {
      return JSON.parse(text.value);
    } catch {
      return {};
    }
  };
  const fill = () => {
    const document = parsed();
    for (const one of controls) one.control.value = written(document?.[one.name]);
  };
  for (const one of controls) {
    one.control.addEventListener('input', () => {
      const document = {...parsed()};
      if (one.control.value === '') delete document[one.name];
      else document[one.name] = valueOf(one.type, one.control.value);
      text.value = JSON.stringify(document, null, 2);
    });
  }
  text.addEventListener('change', fill);
  fill();
  const fields = controls.length > 0 && h('div', {class: 'bar'}, controls.map(labelled));
  return {text, content: [fields, field('Body', text)]};
}

/** renewing gives an idempotency key a new value for each request, until someone writes another. */
function renewing(controls) {
  const key = controls.find((one) => one.in === 'header' && /idempotency-key$/i.test(one.name))?.control;
  let made = key?.value;
  return () => {
    if (key && key.value === made) made = key.value = crypto.randomUUID();
  };
}

function form(api, operation, signal) {
  const controls = operation.parameters.map((one) => ({...one, control: control(one, {required: one.in === 'path'})}));
  for (const one of controls) if (one.required) one.control.value = written(one.example);
  const renew = renewing(controls);
  renew();
  const method = select(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], 'GET');
  const path = h('input', {value: operation.path, required: true, autocomplete: 'off', spellcheck: 'false'});
  const body = operation.body && bodyControls(operation.body);
  const token = h('input', {type: 'checkbox'});
  token.checked = operation.token;
  const subject = h('input', {value: 'alice', autocomplete: 'off', spellcheck: 'false'});
  const groups = h('input', {placeholder: 'none', autocomplete: 'off', spellcheck: 'false'});
  const result = h('div', {'aria-live': 'polite'});

  const request = async () => {
    let where = operation.method ? operation.path : path.value;
    const query = new URLSearchParams();
    const headers = {};
    for (const {name, type, in: part, control} of controls) {
      if (control.value === '') continue;
      if (part === 'path') where = where.replace(`{${name}}`, () => encodeURIComponent(control.value));
      else if (part === 'header') headers[name] = control.value;
      else for (const value of type === 'array' ? control.value.split(',') : [control.value]) query.append(name, value);
    }
    if (body?.text.value) headers['Content-Type'] = operation.body.type;
    if (api.issuer && token.checked) {
      const names = groups.value.split(/[\s,]+/).filter(Boolean);
      const claims = names.length > 0 ? {'cognito:groups': names} : undefined;
      const made = await post('/token', {sub: subject.value, stack: api.stack, claims}, signal);
      headers.Authorization = `Bearer ${made.access_token}`;
    }
    if (query.size > 0) where += `?${query}`;
    return {
      api: api.url, method: operation.method ?? method.value, path: where, headers, body: body?.text.value || undefined,
    };
  };
  const send = async (event) => {
    event.preventDefault();
    put(result, h('p', {class: 'muted'}, 'Waiting for the answer …'));
    try {
      const sent = await request();
      const answer = await post('/try', sent, signal);
      put(result, outcome(sent, answer, answer.request && await traceOf(answer.request, signal)));
      renew();
    } catch (error) {
      if (error.name !== 'AbortError') put(result, problem(error, 'There is no answer.'));
    }
  };
  return [
    h('form', {class: 'try card', onsubmit: send},
      !operation.method && h('div', {class: 'bar'}, field('Method', method), field('Path', path, 'wide')),
      controls.length > 0 && h('div', {class: 'bar'}, controls.map(labelled)),
      body?.content,
      h('div', {class: 'bar'},
        api.issuer && [
          h('label', {class: 'check'}, token, 'With a token'), field('Subject', subject), field('Groups', groups)],
        h('button', {class: 'primary'}, 'Send'))),
    result,
  ];
}

/** traceOf reads what a request did. The answer may be here a moment before the end is noted. */
async function traceOf(id, signal) {
  for (let attempt = 0; ; attempt++) {
    const one = await get(`/requests${at(id)}`, null, signal);
    if (!one.running || attempt === 20) return one;
    await new Promise((done) => { setTimeout(done, 50); });
  }
}

function outcome(sent, answer, trace) {
  const headers = Object.fromEntries(Object.entries(sent.headers).map(([header, value]) => [header, [value]]));
  const command = curl({...sent, headers});
  return h('div', {class: 'beside'},
    h('section', {class: 'card', 'aria-label': 'Answer'}, h('h2', {style: {'margin-top': '0'}}, 'Answer'),
      h('p', null, status(answer.status), ' ', took(answer.took_ms)),
      contents('the answer', answer.body, answer.headers),
      h('details', null, h('summary', null, 'The same with curl'),
        pre('Command', command)),
      h('div', {class: 'bar'}, copy(() => command, 'Copy as curl'))),
    trace && h('section', {class: 'card', 'aria-label': 'Trace'}, h('h2', {style: {'margin-top': '0'}}, 'Trace'),
      h('p', null, h('a', {href: `#/requests${at(trace.id)}`}, 'All that the request did')), waterfall(trace)));
}
