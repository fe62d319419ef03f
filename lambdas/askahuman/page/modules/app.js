// The page: which view is seen, and what is said beside it.

import {h, link, put, say} from './dom.js';
import * as feed from './feed.js';
import * as outbox from './outbox.js';
import * as question from './question.js';
import {settings} from './settings-of-stack.js';
import {state} from './states.js';
import {read, tidy} from './store.js';
import {load, t} from './texts.js';

// A view has show(context), which returns its content. The questions are what most people come for; the others load when they are opened.
const views = [
  {path: /^\/$/, name: 'questions', load: () => feed},
  {path: /^\/q\/([^/]+)$/, load: () => question},
  {path: /^\/me$/, name: 'me', load: () => import('./me.js')},
  {path: /^\/leaderboard$/, name: 'leaderboard', load: () => import('./leaderboard.js')},
  {path: /^\/settings$/, name: 'settings', load: () => import('./settings.js')},
];
const addresses = {questions: '/', me: '/me', leaderboard: '/leaderboard', settings: '/settings'};

const main = document.getElementById('main');
const nav = document.getElementById('nav');
const notices = document.getElementById('notices');

let leaving = new AbortController();
let moved = false;

/** find returns the view of a path, and what the path says. */
function find(path) {
  for (const view of views) {
    const found = path.match(view.path);
    if (found) return {view, parts: found.slice(1).map(decoded)};
  }
  return {view: views[0], parts: []};
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function show({top = true} = {}) {
  leaving.abort();
  const left = leaving = new AbortController();
  const {view, parts} = find(location.pathname);
  for (const one of nav.querySelectorAll('a')) {
    if (one.dataset.view === view.name) one.setAttribute('aria-current', 'page');
    else one.removeAttribute('aria-current');
  }
  delete main.dataset.shown;
  main.setAttribute('aria-busy', 'true');
  const draw = (content) => {
    if (left.signal.aborted) return;
    put(main, content);
    main.removeAttribute('aria-busy');
    const title = main.querySelector('h1');
    document.title = `${brief(title?.textContent ?? t('title'))} – ${t('title')}`;
    // Who listens hears where they are. The first view leaves the focus where the browser has it.
    if (moved) title?.focus({preventScroll: true});
    if (moved && top) scrollTo(0, 0);
    moved = true;
    main.dataset.shown = location.pathname + location.search;
  };
  try {
    let module;
    try {
      module = await view.load();
    } catch {
      draw(navigator.onLine === false ? state('offline', {actions: [again()]}) : state('stale', {actions: [h('button', {type: 'button', class: 'primary', onclick: () => location.reload()}, t('action.reload'))]}));
      return;
    }
    draw(await module.show({parts, parameters: new URLSearchParams(location.search), signal: left.signal, redraw: draw, reload: show, frame}));
  } catch (error) {
    if (error.name === 'AbortError' || left.signal.aborted) return;
    draw(state('server', {actions: [again()]}));
    throw error;
  }
}

/** brief is a text as a tab and the history have room for it. */
const brief = (text) => [...text].length > 80 ? `${[...text].slice(0, 79).join('')}…` : text;

const again = () => h('button', {type: 'button', class: 'primary', onclick: () => show()}, t('action.again'));

/** go shows another view. */
function go(address) {
  if (address !== location.pathname + location.search) history.pushState(null, '', address);
  show();
}

document.addEventListener('click', (event) => {
  const followed = event.target.closest?.('a[href]');
  if (!followed || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const url = new URL(followed.href);
  if (url.origin !== location.origin || !views.some((view) => view.path.test(url.pathname)) || url.hash) return;
  event.preventDefault();
  go(url.pathname + url.search);
});
addEventListener('popstate', () => show({top: false}));

/** frame writes what surrounds the views, in the language of the moment. */
function frame() {
  put(document.getElementById('skip'), t('skip'));
  nav.setAttribute('aria-label', t('nav'));
  put(nav, h('ul', null, Object.entries(addresses).map(([name, address]) => h('li', null, link(address, {'data-view': name}, t(`nav.${name}`))))));
  notify();
}

document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});

// What stands above each view: that there is no network, what waits to be sent, and what became of an answer meanwhile.
let told = [];

function notify() {
  const waiting = outbox.waiting().length;
  put(notices,
    navigator.onLine === false && h('p', {class: 'notice', 'data-notice': 'offline'}, t('notice.offline')),
    waiting > 0 && h('p', {class: 'notice', 'data-notice': 'waiting'}, t('notice.waiting', {n: waiting})),
    told.map((one) => h('p', {class: 'notice', 'data-notice': 'told'}, one.text, ' ', one.action, h('button', {
      type: 'button', class: 'plain',
      onclick: () => {
        told = told.filter((other) => other !== one);
        notify();
      },
    }, t('action.hide')))));
}

function tell(text, action = null) {
  told = [...told, {text, action}].slice(-3);
  say(text);
  notify();
}

for (const event of ['online', 'offline']) {
  addEventListener(event, () => {
    say(t(`notice.${event}`));
    notify();
    if (event === 'online' && main.querySelector('[data-state=offline]')) show({top: false});
  });
}
outbox.events.addEventListener('change', notify);
outbox.events.addEventListener('settled', ({detail: {entry, outcome}}) => {
  // The question's own view says it itself.
  if (location.pathname === `/q/${encodeURIComponent(entry.body.question_id)}`) return;
  if (outcome.kind === 'sent') tell(outcome.receipt ? t('thanks.said', {n: outcome.receipt.points_earned}) : t('notice.sent'));
  else tell(t(`notice.${outcome.kind}`, {prompt: entry.prompt}));
});

addEventListener('unhandledrejection', (event) => {
  if (event.reason?.name === 'AbortError') event.preventDefault();
});

// The page works without its service worker, so a browser that has none, or refuses it, is fine.
async function keepPage() {
  if (!navigator.serviceWorker) return;
  const address = '/service-worker.js';
  const policy = globalThis.trustedTypes?.createPolicy('service-worker', {
    createScriptURL: (given) => {
      if (given !== address) throw new TypeError(`no worker of this page: ${given}`);
      return given;
    },
  });
  navigator.serviceWorker.addEventListener('message', (event) => {
    if (typeof event.data?.open === 'string' && event.data.open.startsWith('/') && !event.data.open.startsWith('//')) go(event.data.open);
  });
  try {
    const registration = await navigator.serviceWorker.register(policy ? policy.createScriptURL(address) : address);
    registration.addEventListener('updatefound', () => {
      const next = registration.installing;
      next?.addEventListener('statechange', () => {
        if (next.state === 'installed' && navigator.serviceWorker.controller) tell(t('notice.newer'), h('button', {type: 'button', onclick: () => location.reload()}, t('action.reload')));
      });
    });
  } catch {
    return;
  }
  if (settings.firebase && read('push')) {
    const push = await import('./push.js');
    await push.renew().catch(() => { /* The next visit tries again. */ });
  }
}

await load();
frame();
tidy();
outbox.start();
show();
keepPage();
