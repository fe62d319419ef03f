// What a view shows instead of its content, and what one can do next.

import {h, heading, link, say} from './dom.js';
import {Problem} from './requests.js';
import {home} from './settings.js';
import {t, time} from './texts.js';

const toHome = () => link(home, {class: 'button primary'}, t('action.home'));

/** state makes a view of a title, a text and actions. kind names it for tests and styles. */
export function state(kind, {title = t(`state.${kind}.title`), text = t(`state.${kind}.text`), actions = [toHome()],
  more = null} = {}) {
  return h('section', {class: 'state', 'data-state': kind}, heading(title), h('p', null, text), more,
    h('p', {class: 'actions'}, actions));
}

/** stateOf makes the view of a problem. again tries once more what led to it. */
export function stateOf(error, again, more = null) {
  const kind = error instanceof Problem ? error.kind : 'server';
  const retry = again && h('button', {type: 'button', class: 'primary', onclick: again}, t('action.again'));
  switch (kind) {
    case 'limited':
      return limited(error.after, again, more);
    case 'offline':
    case 'server':
      return state(kind, {more, actions: [retry ?? toHome()]});
    case 'refused':
      return state(kind, {more, text: error.message || t('state.refused.text')});
  }
  return state(kind, {more});
}

/** limited counts the seconds down that one has to wait, and then lets one go on. */
function limited(seconds, again, more) {
  const go = h('button', {type: 'button', class: 'primary', disabled: true, onclick: again}, t('action.again'));
  // A timer is not read out each second.
  const left = h('p', {role: 'timer', class: 'countdown'});
  const until = Date.now() + seconds * 1000;
  const view = state('limited', {more: [left, more], actions: again ? [go] : undefined});
  const at = time(until);
  const tick = () => {
    const rest = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    left.textContent = rest > 0 ? t('state.limited.left', {time: clock(rest), at}) : '';
    if (rest === 0) {
      clearInterval(timer);
      go.disabled = false;
      if (view.isConnected) say(t('state.limited.over'));
    }
  };
  const timer = setInterval(() => {
    if (started && !view.isConnected) clearInterval(timer);
    else tick();
  }, 1000);
  // The view is drawn after this function returns.
  let started = false;
  setTimeout(() => { started = true; });
  tick();
  return view;
}

/** clock writes seconds as 1:05. */
export const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
