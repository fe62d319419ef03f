// What a client sent, and what it was answered.

import {h, pre} from './dom.js';
import {pretty} from './format.js';

const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** curl writes a request as a command. Headers are lists by name. Those that are secrets take them from variables of
 * the shell. */
export function curl({api, method, path, headers, body}, secrets = []) {
  const given = Object.entries(headers).flatMap(([header, values]) => values.map((value) => {
    if (!secrets.includes(header)) return `-H ${quoted(`${header}: ${value}`)}`;
    const [scheme] = value.match(/^[\w-]+ +/) ?? [''];
    return `-H ${quoted(`${header}: ${scheme}`)}"$${variable(header)}"`;
  }));
  if (body) given.push(`--data-raw ${quoted(body)}`);
  return ['curl', '-X', method, ...given, quoted(api + path)].join(' ');
}

/** variable is the variable of the shell for a secret header. */
export const variable = (header) => (header === 'Authorization' ? 'TOKEN' : header.toUpperCase().replaceAll('-', '_'));

/** contents shows the body and the headers of a side, which is "the request" or "the answer". */
export function contents(side, body, headers) {
  const rows = Object.entries(headers).map(([header, values]) => `${header}: ${values.join(', ')}\n`);
  return [
    pre(`Body of ${side}`, body ? pretty(body) : 'no body'),
    h('details', null, h('summary', null, 'Headers'),
      pre(`Headers of ${side}`, rows)),
  ];
}
