// The page: which view is seen, what is live, and what is being built.

import * as attention from './attention.js';
import {h, pre, problem, put, say} from './dom.js';
import {on, start} from './live.js';
import {took} from './format.js';
import {Unknown, unknown} from './unknown.js';
import * as buckets from './views/buckets.js';
import * as buses from './views/buses.js';
import * as costs from './views/costs.js';
import * as faults from './views/faults.js';
import * as functions from './views/functions.js';
import * as lake from './views/lake.js';
import * as lines from './views/lines.js';
import * as map from './views/map.js';
import * as parameters from './views/parameters.js';
import * as permissions from './views/permissions.js';
import * as platforms from './views/platforms.js';
import * as push from './views/push.js';
import * as webhooks from './views/webhooks.js';
import * as queues from './views/queues.js';
import * as requests from './views/requests.js';
import * as schedules from './views/schedules.js';
import * as streams from './views/streams.js';
import * as tables from './views/tables.js';
import * as trying from './views/try.js';
import * as userPools from './views/userpools.js';

// A view has a name, which is the first part of the address after the hash, a title, and show(context), which returns
// its content. Its address may go on with as many parts as it has in parts, by default none. The menu shows the views
// in groups.
const groups = [
  ['Start', [platforms, map, trying]],
  ['Requests and logs', [requests, lines, functions, costs]],
  ['Data', [tables, streams, buckets, lake]],
  ['Messages', [buses, queues, schedules, push, webhooks]],
  ['Settings', [userPools, parameters, permissions, faults]],
];
const views = groups.flatMap(([, own]) => own);

const main = document.getElementById('main');
const nav = document.getElementById('views');
const menu = document.getElementById('menu');

let leaving = new AbortController();

/** address reads the hash: #/tables/NAME?text=x. */
function address() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return {parts: path.split('/').filter(Boolean).map(decoded), parameters: new URLSearchParams(query ?? '')};
}

/** decoded reads a part of an address, which someone may have written wrong. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// The server answers every address that it does not have with this page.
const here = location.pathname === '/';

const hrefOf = (view) => (view === platforms ? '/#/' : `/#/${view.name}`);

/** content is what the address names, or what says that it names nothing. */
async function content(view, context) {
  const wrong = (reason) => unknown(here ? location.hash : location.pathname, reason,
    views.map((one) => [hrefOf(one), one.title]));
  if (!here) return wrong('The console has one page, at /.');
  if (!view) return wrong('The console has no such view.');
  if (context.parts.length > (view.parts ?? 0)) return wrong(`The view ${view.title} has no such part.`);
  try {
    return await view.show(context);
  } catch (error) {
    if (error instanceof Unknown || error.status === 404 || error.status === 400) return wrong(error.message);
    throw error;
  }
}

async function show() {
  leaving.abort();
  const left = leaving = new AbortController();
  const {parts, parameters} = address();
  const view = here && views.find((one) => one.name === (parts[0] ?? platforms.name));
  for (const link of nav.querySelectorAll('a')) {
    if (link.dataset.view === view?.name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  unfold(false);
  for (const open of document.querySelectorAll('dialog')) open.close();
  main.setAttribute('aria-busy', 'true');
  try {
    const shown = await content(view, {parts: parts.slice(1), parameters, signal: left.signal, go, reload: show});
    if (left.signal.aborted) return;
    put(main, shown);
  } catch (error) {
    if (left.signal.aborted) return;
    put(main, h('h1', {tabindex: '-1'}, view?.title ?? 'Console'), problem(error, 'This view could not be read.'));
  }
  main.removeAttribute('aria-busy');
  main.dataset.shown = location.hash || '#/';
  const heading = main.querySelector('h1');
  document.title = `${heading?.textContent ?? 'Console'} – Onesynth`;
  // A reader that listens hears where it is. The first view leaves the focus where the browser has it.
  if (moved) heading?.focus({preventScroll: true});
  if (moved) scrollTo(0, 0);
}

let moved = false;

/** go changes the address, as a new place, or in the place of this one. */
function go(hash, {replace = false} = {}) {
  if (replace) {
    history.replaceState(null, '', hash);
    return;
  }
  if (location.hash === hash) show();
  else location.hash = hash;
}

function unfold(open) {
  nav.classList.toggle('open', open);
  menu.setAttribute('aria-expanded', String(open));
}

const entry = (view) => h('li', null,
  h('a', {href: hrefOf(view), 'data-view': view.name}, view.title));
put(nav, h('div', null, groups.map(([heading, own], i) => h('section', null,
  h('h2', {id: `group-${i}`}, heading), h('ul', {'aria-labelledby': `group-${i}`}, own.map(entry))))));
menu.addEventListener('click', () => unfold(!nav.classList.contains('open')));
nav.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && nav.classList.contains('open')) {
    unfold(false);
    menu.focus();
  }
});
document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
// Keys for those who read much: "/" goes to the search, "j" and "k" to the next row and back.
const rowsOf = () => [...main.querySelectorAll('tbody tr, summary')].filter((row) => row.getClientRects().length > 0)
  .map((row) => (row.matches('summary') ? row : row.querySelector('a, button'))).filter(Boolean);
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog') ||
    event.target.matches('input, textarea, select')) return;
  if (event.key === '/') {
    event.preventDefault();
    main.querySelector('[role=search] input, input[type=search], textarea')?.focus();
    return;
  }
  const step = {j: 1, k: -1}[event.key];
  if (!step) return;
  const rows = rowsOf();
  const now = rows.findIndex((row) => row === document.activeElement ||
    row.closest('tr')?.contains(document.activeElement));
  rows[now < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, now + step))]?.focus();
});
addEventListener('hashchange', () => {
  moved = true;
  show();
});

const live = document.getElementById('live');
start((stands) => {
  live.classList.toggle('on', stands);
  document.getElementById('live-text').textContent = stands ? 'Live' : 'Not connected';
});

attention.start(nav, document.getElementById('faulty'), () => {
  if (address().parts[0] === faults.name) show();
});

// What --watch does, in a banner.
const banner = document.getElementById('change');
let folding;
let underWay = false;
on('change', (change) => {
  // A new connection hears of the newest change again: only one that was under way here has just ended.
  const ended = change.state === 'done';
  if (ended && !underWay) return;
  underWay = !ended;
  clearTimeout(folding);
  const of = change.functions?.length ? change.functions.join(', ') : 'the functions';
  const time = change.took_ms ? ` in ${took(change.took_ms)}` : '';
  const what = {
    build: {began: `Building ${of} …`, done: change.functions?.length ? `New code of ${of} runs, built${time}`
      : 'No function has changed', failed: `The build of ${of} failed: the former code still runs`},
    apply: {began: 'Applying the change …', done: `The change is applied${time}`,
      failed: 'The change was not applied: the run is as before'},
  }[change.what]?.[change.state] ?? `${change.what}: ${change.state}`;
  banner.className = `change ${change.state}`;
  banner.hidden = false;
  put(banner, h('strong', null, what), change.state === 'failed' && [
    h('button', {type: 'button', onclick: () => { banner.hidden = true; }}, 'Hide'),
    change.text && pre('What the compiler says', change.text)]);
  if (!ended) return;
  folding = setTimeout(() => { banner.hidden = true; }, 6000);
  // There may be other routes and tables now. What someone writes stays.
  if (change.what === 'apply' && !document.querySelector('dialog') &&
    !document.activeElement?.matches('input, textarea, select')) show();
});

addEventListener('unhandledrejection', (event) => {
  if (event.reason?.name === 'AbortError') event.preventDefault();
  else say(event.reason?.message ?? 'That failed.');
});

show();
