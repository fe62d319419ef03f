// The keys of the page: n writes a new task, / searches, and Escape closes what is open.

import {go} from '../../../kit/webapp/modules/app.js';
import {read, write} from '../../../kit/webapp/modules/store.js';

/** letters reports whether keys without Ctrl, Alt or Meta do something, which people can turn off. */
export const letters = () => read('keys', true);

export const choose = (on) => write('keys', on);

const keys = {n: ['add', '/'], '/': ['q', '/all']};

let awaited = null;

/** focus gives a field of the view that is about to be drawn the focus, if a key has asked for it. */
export function focus() {
  const id = awaited;
  awaited = null;
  if (id) setTimeout(() => document.getElementById(id)?.focus());
}

document.addEventListener('keydown', (event) => {
  const {ctrlKey, altKey, metaKey, isComposing, defaultPrevented, key, target} = event;
  if (ctrlKey || altKey || metaKey || isComposing || defaultPrevented || document.querySelector('dialog[open]')) return;
  if (key === 'Escape') {
    // Elements with data-escape close, or empty themselves.
    const within = target.closest('[data-escape]');
    if (!within && target.matches('input, textarea, select')) target.blur();
    else (within ?? [...document.querySelectorAll('[data-escape]')].at(-1))?.dispatchEvent(new Event('escape'));
    return;
  }
  if (!Object.hasOwn(keys, key) || !letters() || target.closest('input:not([type=checkbox]), textarea, select')) return;
  const [id, address] = keys[key], field = document.getElementById(id);
  event.preventDefault();
  if (field) field.focus();
  else {
    awaited = id;
    go(address);
  }
});
