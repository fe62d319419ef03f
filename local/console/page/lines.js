// Log lines, as people read them.

import {h} from './dom.js';
import {clock} from './format.js';

// What a line says beside these is shown: they are its time and place, which the list has, or describe its metrics.
const known = new Set(['time', 'level', 'msg', 'message', 'stack', 'stackTrace', 'timestamp', 'function_name', 'request_id', '_aws']);

/** parsed reads a line that a logger wrote as JSON. */
function parsed(text) {
  if (!text.startsWith('{')) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const shown = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** line makes the list element of a line: {at, function, level, text}. */
export function line(entry, {named} = {}) {
  const document = parsed(entry.text);
  const level = (entry.level || document?.level || '').toLowerCase();
  const element = h('li', {class: level.startsWith('err') || level === 'fatal' || level === 'panic' ? 'error' : level.startsWith('warn') ? 'warn' : null});
  if (entry.at) element.append(h('span', {class: 'when'}, clock(entry.at)));
  if (named && entry.function) element.append(h('span', {class: 'when'}, entry.function));
  if (level && level !== 'info') element.append(h('strong', {class: level.startsWith('warn') ? 'warn' : 'bad'}, level.toUpperCase(), ' '));
  if (!document) {
    if (entry.text.includes('\n')) element.append(h('pre', null, entry.text));
    else element.append(entry.text);
    return element;
  }
  element.append(String(document.msg ?? document.message ?? ''));
  const rest = Object.entries(document).filter(([name]) => !known.has(name));
  if (rest.length) element.append(h('span', {class: 'attributes'}, ' ', rest.map(([name, value]) => `${name}=${shown(value)}`).join('  ')));
  const stack = document.stack ?? document.stackTrace;
  if (stack) element.append(h('pre', null, typeof stack === 'string' ? stack : JSON.stringify(stack, null, 2)));
  return element;
}

/** lines makes the list of lines. */
export function lines(entries, options) {
  if (entries.length === 0) return h('p', {class: 'empty'}, 'No line was written.');
  return h('ul', {class: 'lines', tabindex: '0', 'aria-label': 'Log lines'}, entries.map((entry) => line(entry, options)));
}
