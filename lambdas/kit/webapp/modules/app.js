// The frame of a page: which view an address shows, and what stands around it.

import {h, link, put, say} from './dom.js';
import {home, name} from './settings.js';
import {state} from './states.js';
import {tidy} from './store.js';
import {load, t} from './texts.js';

const main = document.getElementById('main');
const nav = document.getElementById('nav');
const notices = document.getElementById('notices');
const aside = document.getElementById('aside');
const foot = document.getElementById('foot');

/** wide is when there is space beside the view. */
const wide = matchMedia('(min-width: 1200px)');

let page;
let leaving = new AbortController();
let moved = false;
let current = '';

/**
 * start shows the page. views are {path, name, load}: the addresses that a regular expression matches, the entry of the
 * navigation, and what returns the module, or a promise of it. A view has show(context), which returns its content;
 * context has parts (of the address), parameters, signal (ends when the view is left), back (someone came back to it),
 * redraw(content) and reload(). navigation returns the addresses of its entries by name; counts what stands beside
 * their names, if anything. standing returns what stands above each view, besides what this module has to say; beside
 * returns a promise of what stands at its side on a wide screen until the signal ends that it gets; below what stands
 * at the foot. kept is called when the service worker
 * keeps the page.
 */
export async function start(given) {
  page = {navigation: () => ({}), counts: () => ({}), standing: () => [], beside: null, below: () => null, ...given};
  await load();
  frame();
  tidy();
  history.scrollRestoration = 'manual';
  show({back: true});
  keepPage();
}

/** find returns the view of a path, and what the path says. */
function find(path) {
  for (const view of page.views) {
    const found = path.match(view.path);
    if (found) return {view, parts: found.slice(1).map(decoded)};
  }
  return {view: {load: () => ({show: () => state('unknown')})}, parts: []};
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** show draws the view of the address. A view that someone comes back to is shown where it was left. */
async function show({top = true, back = false} = {}) {
  leaving.abort();
  const left = leaving = new AbortController();
  const {view, parts} = find(location.pathname);
  const place = back ? history.state?.y ?? 0 : 0;
  current = view.name;
  mark();
  delete main.dataset.shown;
  main.setAttribute('aria-busy', 'true');
  let drawn = false;
  const draw = (content) => {
    if (left.signal.aborted) return;
    put(main, content);
    main.removeAttribute('aria-busy');
    const title = main.querySelector('h1');
    document.title = title ? `${brief(title.textContent)} – ${name}` : name;
    // Who listens hears where they are. The first view begins in its field, or leaves the focus to the browser.
    (moved ? title : main.querySelector('[data-first]'))?.focus({preventScroll: true});
    if (top && (moved || back)) scrollTo(0, drawn ? 0 : place);
    moved = drawn = true;
    main.dataset.shown = location.pathname + location.search;
  };
  try {
    let module;
    try {
      module = await view.load();
    } catch {
      const offline = navigator.onLine === false;
      draw(offline ? state('offline', {actions: [again()]}) : state('stale', {actions: [reloading()]}));
      return;
    }
    draw(await module.show({parts, parameters: new URLSearchParams(location.search), signal: left.signal, back,
      redraw: draw, reload: show}));
    await atSide(left.signal);
  } catch (error) {
    if (error.name === 'AbortError' || left.signal.aborted) return;
    draw(state('server', {actions: [again()]}));
    throw error;
  }
}

/** mark marks the entry of the navigation that is shown, and draws the counts. */
export function mark() {
  const counts = page.counts();
  for (const one of nav.querySelectorAll('a')) {
    const count = counts[one.dataset.view];
    one.querySelector('.tally').hidden = !count;
    put(one.querySelector('.tally'), count);
    if (one.dataset.view === current) one.setAttribute('aria-current', 'page');
    else one.removeAttribute('aria-current');
  }
}

/** brief is a text as a tab and the history have space for it. */
const brief = (text) => [...text].length > 80 ? `${[...text].slice(0, 79).join('')}…` : text;

const again = () => h('button', {type: 'button', class: 'primary', onclick: () => show()}, t('action.again'));

const reloading = () => h('button', {type: 'button', class: 'primary', onclick: () => location.reload()},
  t('action.reload'));

let besides = new AbortController();

/** atSide draws what stands beside the view. What stands there follows its data until something else does. */
async function atSide(signal) {
  const next = new AbortController();
  const content = page.beside && wide.matches ? await page.beside(next.signal).catch(() => null) : null;
  if (signal.aborted) {
    next.abort();
    return;
  }
  besides.abort();
  besides = next;
  if (!content) next.abort();
  aside.hidden = !content;
  put(aside, content);
}
wide.addEventListener('change', () => page && atSide(leaving.signal));

/** go shows another view. */
export function go(address) {
  if (address !== location.pathname + location.search) {
    history.replaceState({y: scrollY}, '');
    history.pushState(null, '', address);
  }
  show();
}

document.addEventListener('click', (event) => {
  const followed = event.target.closest?.('a[href]');
  if (!followed || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey ||
    event.altKey) return;
  const url = new URL(followed.href);
  if (url.origin !== location.origin || url.hash || !page?.views.some((view) => view.path.test(url.pathname))) return;
  event.preventDefault();
  go(url.pathname + url.search);
});
addEventListener('popstate', () => page && show({back: true}));

// Where one is in a view is kept with its entry in the history.
let still = null;
addEventListener('scroll', () => {
  clearTimeout(still);
  const {href} = location;
  still = setTimeout(() => {
    if (href === location.href && main.dataset.shown) history.replaceState({y: scrollY}, '');
  }, 150);
}, {passive: true});

document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});

/** frame writes what surrounds the views, in the language of the moment. */
export function frame() {
  put(document.getElementById('skip'), t('skip'));
  nav.setAttribute('aria-label', t('nav'));
  notices.setAttribute('aria-label', t('notices'));
  put(nav, h('ul', null, Object.entries(page.navigation()).map(([entry, address]) =>
    h('li', null, link(address, {'data-view': entry, class: `entry ${entry}`}, h('span', null, t(`nav.${entry}`)),
      h('span', {class: 'tally'}))))));
  mark();
  const below = page.below();
  foot.hidden = !below;
  put(foot, below);
  notify();
}

// What stands above each view: that there is no network, what the page has to say, and what was told meanwhile.
let told = [];

/** notify draws what stands above each view. */
export function notify() {
  put(notices,
    navigator.onLine === false && notice('offline', t('notice.offline')),
    page.standing().map((text) => notice('standing', text)),
    told.map((one) => notice('told', one.text, ' ', one.action, h('button', {
      type: 'button', class: 'plain',
      onclick: one.hide,
    }, t('action.hide')))));
}

const notice = (kind, ...content) => h('div', {class: 'notice', 'data-notice': kind}, content);

/** tell says something above the view until someone hides it, or calls the function that it returns. */
export function tell(text, action = null) {
  const hide = () => {
    told = told.filter((other) => other.hide !== hide);
    notify();
  };
  told = [...told, {text, action, hide}].slice(-3);
  say(text);
  notify();
  return hide;
}

for (const event of ['online', 'offline']) {
  addEventListener(event, () => {
    if (!page) return;
    say(t(`notice.${event}`));
    notify();
    if (event === 'online' && main.querySelector('[data-state=offline]')) show({top: false});
  });
}

addEventListener('unhandledrejection', (event) => {
  if (event.reason?.name === 'AbortError') event.preventDefault();
});

// A page that can be installed has a service worker. It works without, so a browser that has none, or refuses it, is
// fine.
async function keepPage() {
  if (!navigator.serviceWorker || !document.querySelector('link[rel=manifest]')) return;
  const address = `${home.replace(/\/$/, '')}/service-worker.js`;
  const policy = globalThis.trustedTypes?.createPolicy('service-worker', {
    createScriptURL: (given) => {
      if (given !== address) throw new TypeError(`no worker of this page: ${given}`);
      return given;
    },
  });
  navigator.serviceWorker.addEventListener('message', (event) => {
    if (typeof event.data?.open === 'string' && event.data.open.startsWith('/') &&
      !event.data.open.startsWith('//')) go(event.data.open);
  });
  try {
    const registration = await navigator.serviceWorker.register(policy ? policy.createScriptURL(address) : address);
    registration.addEventListener('updatefound', () => {
      const next = registration.installing;
      next?.addEventListener('statechange', () => {
        if (next.state === 'installed' && navigator.serviceWorker.controller) tell(t('notice.newer'), reloading());
      });
    });
  } catch {
    return;
  }
  await page.kept?.();
}
