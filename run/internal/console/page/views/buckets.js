// Buckets and their objects.

import {at, bytes, get} from '../api.js';
import {action, dialog, h, pre, put, table} from '../dom.js';
import {brief, load} from '../names.js';
import {bytesOf, number, pretty, when} from '../format.js';

export const name = 'buckets';
export const title = 'Buckets';
export const parts = 1;

export async function show(context) {
  return context.parts.length > 0 ? one(context) : list(context);
}

async function list({signal}) {
  await load();
  return [h('h1', {tabindex: '-1'}, title), table({caption: 'Buckets of the run',
    rows: await get('/buckets', null, signal), empty: 'The assembly has no bucket.', columns: [
    {label: 'Bucket', cell: (bucket) => h('a', {href: `#/buckets${at(bucket.name)}`, title: bucket.name},
      brief(bucket.name))},
    {label: 'Objects', number: true, cell: (bucket) => number(bucket.objects)},
    {label: 'Size', number: true, cell: (bucket) => bytesOf(bucket.bytes)},
  ]})];
}

const perPage = 100;

async function one({parts, parameters, signal}) {
  const [bucket] = parts;
  const prefix = parameters.get('prefix') ?? '';
  const place = h('div');
  const after = [''];
  const link = (folder) => `#/buckets${at(bucket)}?prefix=${encodeURIComponent(folder)}`;
  const draw = async () => {
    const page = await get(`/buckets${at(bucket)}/browse`, {prefix, after: after.at(-1), limit: perPage}, signal);
    const rows = [...page.folders.map((folder) => ({folder})), ...page.objects];
    put(place, table({caption: prefix ? `Below ${prefix}` : 'At the top', rows,
      empty: 'There is no object here.', columns: [
      {label: 'Name', cell: (row) => (row.folder
        ? h('a', {href: link(row.folder)}, row.folder.slice(prefix.length))
        : h('button', {type: 'button', class: 'link mono', onclick: () => look(bucket, row)},
          row.key.slice(prefix.length) || row.key))},
      {label: 'Size', number: true, cell: (row) => (row.folder ? '' : bytesOf(row.size))},
      {label: 'Changed', class: 'nowrap', cell: (row) => (row.folder ? '' : when(row.last_modified))},
    ]}), h('div', {class: 'bar'},
      after.length > 1 && action('Previous page', async () => { after.pop(); await draw(); }, {key: 'previous'}),
      page.next && action('Next page', async () => { after.push(page.next); await draw(); }, {key: 'next'})));
  };
  await draw();
  const crumbs = [h('li', null, h('a', {href: '#/buckets'}, 'Buckets')),
    h('li', null, h('a', {href: link('')}, bucket))];
  let path = '';
  for (const part of prefix.split('/').filter(Boolean)) {
    path += `${part}/`;
    crumbs.push(h('li', null, h('a', {href: link(path)}, part)));
  }
  return [h('ol', {class: 'crumbs', 'aria-label': 'Place'}, crumbs), h('h1', {tabindex: '-1'}, bucket), place];
}

const shown = 64 << 10;

const pictures = [['image/png', [0x89, 0x50, 0x4e, 0x47]], ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]]];

async function look(bucket, object) {
  const path = `/buckets${at(bucket)}/objects${at(object.key)}`;
  const place = h('div', {'aria-live': 'polite'}, 'Reading …');
  const close = dialog(object.key, h('p', {class: 'muted'}, `${bytesOf(object.size)}, `, when(object.last_modified),
    ', ETag ', h('code', null, object.etag)), place,
    h('div', {class: 'bar end'}, h('a', {class: 'button', href: path, download: object.key.split('/').at(-1)},
      'Download'), h('button', {type: 'button', onclick: () => close()}, 'Close')));
  try {
    const {content, size} = await bytes(path, shown);
    put(place, seen(content, size === null), size !== null &&
      h('p', {class: 'muted'}, `The first ${bytesOf(content.length)} of ${bytesOf(size)}.`));
  } catch (error) {
    put(place, error.message);
  }
}

/** seen shows bytes as a picture, as a text, or as themselves. */
function seen(content, whole) {
  const picture = pictures.find(([, begin]) => begin.every((byte, i) => content[i] === byte));
  if (picture && whole) {
    let text = '';
    for (const byte of content) text += String.fromCharCode(byte);
    return h('img', {alt: 'The object, as a picture', src: `data:${picture[0]};base64,${btoa(text)}`});
  }
  try {
    // The last character of a part may be cut.
    const text = new TextDecoder('utf-8', {fatal: true}).decode(content, {stream: !whole});
    if (!text.includes('\0')) return pre('Content', whole ? pretty(text) : text);
  } catch { /* it is no text */ }
  const rows = [];
  for (let start = 0; start < Math.min(content.length, 512); start += 16) {
    const part = [...content.slice(start, start + 16)];
    const digits = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    rows.push(`${start.toString(16).padStart(4, '0')}  ${digits.padEnd(48)}  ${text}`);
  }
  return [h('p', null, 'The object is not text. These are its first bytes.'),
    pre('First bytes', rows.join('\n'))];
}
