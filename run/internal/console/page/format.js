// Values for people.

import {h} from './dom.js';

const numbers = new Intl.NumberFormat('en', {maximumFractionDigits: 2});

export const number = (value) => numbers.format(value ?? 0);

export const plural = (count, one, many = one + 's') => `${number(count)} ${count === 1 ? one : many}`;

/** took writes milliseconds. */
export function took(milliseconds) {
  if (milliseconds === undefined || milliseconds === null) return '';
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${number(Math.round(milliseconds / 6000) / 10)} min`;
}

export const nanoseconds = (value) => (value ? took(value / 1e6) : '–');

export function bytesOf(count) {
  for (const unit of ['B', 'KB', 'MB', 'GB']) {
    if (count < 1024 || unit === 'GB') return `${number(Math.round(count * 10) / 10)} ${unit}`;
    count /= 1024;
  }
}

const pad = (value) => String(value).padStart(2, '0');

/** clock is the time of the day, in the browser's zone. */
export function clock(text) {
  const at = new Date(text);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

/** when is a time element: the clock, and the day if it is another. */
export function when(text) {
  if (!text) return '–';
  const at = new Date(text);
  const today = at.toDateString() === new Date().toDateString();
  return h('time', {datetime: text, title: at.toLocaleString()}, today ? clock(text)
    : `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${clock(text)}`);
}

/** moment is a time element of seconds since the Unix epoch, or nothing if they are too many for a date. */
export function moment(seconds) {
  const at = new Date(seconds * 1000);
  return Number.isNaN(at.getTime()) ? null : when(at.toISOString());
}

/** money writes US dollars for a million requests. */
export function money(dollars) {
  if (!dollars) return '–';
  return `$${dollars < 0.01 ? dollars.toFixed(4) : dollars.toFixed(2)}`;
}

/** dollars writes US dollars of any size: "$0.0000124", "$3.21". */
export function dollars(amount) {
  if (!amount) return '–';
  return `$${amount.toFixed(amount >= 0.1 ? 2 : Math.min(12, 2 - Math.floor(Math.log10(amount))))}`;
}

/** status is the badge of an HTTP status. */
export function status(code) {
  if (!code) return h('span', {class: 'badge'}, '–');
  return h('span', {class: `badge ${code < 400 ? 'good' : code < 500 ? 'warn' : 'bad'}`}, code);
}

/** pretty writes JSON with indents, and any other text as it is. */
export function pretty(text) {
  try {
    return JSON.stringify(typeof text === 'string' ? JSON.parse(text) : text, null, 2);
  } catch {
    return String(text);
  }
}

/** short is the last part of an ARN, or the name itself. */
export const short = (name) => name.slice(name.lastIndexOf(':') + 1);

export function cut(text, most = 120) {
  return text.length > most ? text.slice(0, most - 1) + '…' : text;
}
