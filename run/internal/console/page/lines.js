// Log lines, as people read them.

import {at} from './api.js';
import {h} from './dom.js';
import {clock} from './format.js';

export const levels = ['debug', 'info', 'warn', 'error'];

// What a line says beside these is shown: they are its time and place, which the list has, or describe its metrics.
const known = new Set(['time', 'level', 'msg', 'message', 'stack', 'stackTrace', 'timestamp', 'function_name',
  'FunctionName', 'request_id', '_aws', 'errorMessage']);

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

/** frames writes a stack, the innermost call first, without those of Go's runtime: that of a panic, or the list of
 * AWS Lambda. */
export function frames(stack) {
  if (!stack) return '';
  if (Array.isArray(stack)) return stack.map((call) =>
    (typeof call === 'string' ? call : `${call.label}\n    ${call.path}:${call.line}`)).join('\n');
  const rows = String(stack).trim().split('\n').filter((row) => !row.startsWith('goroutine '));
  const calls = [];
  for (let i = 0; i + 1 < rows.length; i += 2) {
    if (!rows[i + 1].startsWith('\t')) return stack;
    // What is above a panic is how it was recovered.
    if (rows[i].startsWith('panic(')) calls.length = 0;
    if (/^(runtime[./]|panic\()/.test(rows[i])) continue;
    calls.push(`${rows[i].replace(/\([^()]*\)$/, '')}\n    ${rows[i + 1].trim().replace(/ \+0x[0-9a-f]+$/, '')}`);
  }
  return calls.length > 0 ? calls.join('\n') : stack;
}

/** line makes the list element of a line: {at, function, label, request, level, text}. A named one has its function,
 * which leads to the request. */
export function line(entry, {named} = {}) {
  const document = parsed(entry.text);
  const level = (entry.level || document?.level || '').toLowerCase();
  const element = h('li', {class: level.startsWith('err') || level === 'fatal' || level === 'panic' ? 'error'
    : level.startsWith('warn') ? 'warn' : null});
  if (entry.at) element.append(h('span', {class: 'when'}, clock(entry.at)));
  const by = named && (entry.label || entry.function);
  if (by) element.append(h(entry.request ? 'a' : 'span',
    {class: 'when', title: entry.function, href: entry.request && `#/requests${at(entry.request)}`}, by));
  if (level && level !== 'info') element.append(h('strong', {class: level.startsWith('warn') ? 'warn' : 'bad'},
    level.toUpperCase(), ' '));
  if (!document) {
    if (entry.text.includes('\n')) element.append(h('pre', null, entry.text));
    else element.append(entry.text);
    return element;
  }
  element.append(String(document.msg ?? document.message ?? document.errorMessage ?? ''));
  const rest = Object.entries(document).filter(([name]) => !known.has(name));
  if (rest.length) element.append(h('span', {class: 'attributes'}, ' ',
    rest.map(([name, value]) => `${name}=${shown(value)}`).join('  ')));
  const calls = frames(document.stack ?? document.stackTrace);
  if (calls) element.append(h('pre', null, calls));
  return element;
}

/** lines makes the list of lines. */
export function lines(entries, options) {
  if (entries.length === 0) return h('p', {class: 'empty'}, 'No line was written.');
  return h('ul', {class: 'lines', tabindex: '0', 'aria-label': 'Log lines'},
    entries.map((entry) => line(entry, options)));
}
