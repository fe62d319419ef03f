// Secrets, by their names alone, and parameters.

import {at, get} from '../api.js';
import {h, table} from '../dom.js';
import {brief, load, named} from '../names.js';

export const name = 'parameters';
export const title = 'Parameters';

/** readers are two columns: who has read it, and who else may. */
const readers = [['Read by', 'read_by'], ['May read it', 'may_read']].map(([label, list]) => ({
  label, cell: (one) => one[list].map((reader) => h('div', null, reader.startsWith('schedule/') ? named(reader)
    : h('a', {href: `#/functions${at(reader)}`, title: reader}, brief(reader)))),
}));

export async function show({signal}) {
  const [secrets, parameters] = await Promise.all(
    [get('/secrets', null, signal), get('/parameters', null, signal), load()]);
  return [
    h('h1', {tabindex: '-1'}, 'Secrets and parameters'),
    h('p', {class: 'muted'}, 'The console shows no secret. A function reads one by its name, if its role allows that.'),
    table({caption: 'Secrets', rows: secrets, empty: 'The assembly has no secret.', columns: [
      {label: 'Secret', cell: (one) => named(one.name)}, {label: 'Stack', cell: (one) => one.stack}, ...readers,
    ]}),
    table({caption: 'Parameters', rows: parameters, empty: 'The run has no parameter.', columns: [
      {label: 'Parameter', cell: (one) => h('code', {title: one.arn}, one.name)},
      {label: 'Value', cell: (one) => (one.type === 'SecureString' ? h('span', {class: 'muted'}, 'a secret, not shown')
        : h('code', {class: 'cut', title: one.value}, one.value))},
      ...readers,
    ]}),
  ];
}
