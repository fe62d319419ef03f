// What functions may do, did, and may not.

import {get} from '../api.js';
import {field, h, put, table} from '../dom.js';
import {number, plural} from '../format.js';
import {brief, load} from '../names.js';

export const name = 'permissions';
export const title = 'Permissions';

export async function show({parameters, signal}) {
  const [all] = await Promise.all([get('/permissions', null, signal), load()]);
  const opened = parameters.get('function');
  const search = h('input', {type: 'search', autocomplete: 'off', spellcheck: 'false',
    placeholder: 'function, action or resource'});
  const place = h('div');
  const draw = () => {
    const wanted = search.value.trim().toLowerCase();
    const passes = (one) => !wanted || `${one.action} ${one.resource}`.toLowerCase().includes(wanted);
    // Those with something to mend stand first, open.
    const first = (one) => 2 * (one.function === opened) + (one.refused.length > 0);
    put(place, [...all].sort((a, b) => first(b) - first(a)).map((one) => {
      const named = one.function.toLowerCase().includes(wanted);
      const lists = Object.fromEntries(['used', 'unused', 'refused'].map((kind) =>
        [kind, one[kind].filter((permission) => named || passes(permission))]));
      const count = lists.used.length + lists.unused.length + lists.refused.length;
      return wanted && count === 0 && !named ? null : section(one.function, lists, first(one) > 0);
    }));
  };
  search.addEventListener('input', draw);
  draw();
  return [
    h('h1', {tabindex: '-1'}, title),
    h('p', {class: 'muted'},
      'What functions have asked of their roles since the start of the run. ' +
      'A request that you have not sent may need a grant that is unused here.'),
    h('div', {class: 'bar', role: 'search'}, field('Search', search, 'wide')), place,
  ];
}

function section(name, {used, unused, refused}, open) {
  const content = h('div');
  const fill = () => put(content, list('Refused', refused, (one) => plural(one.times, 'time')),
    list('Unused', unused, (one) => one.source), list('Used', used));
  const details = h('details', {class: 'card tight', ontoggle: () => details.open && content.childElementCount === 0 &&
    fill(), open},
    h('summary', null, h('strong', {title: name}, name.startsWith('schedule/')
      ? `schedule ${brief(name.slice('schedule/'.length))}` : brief(name)), ' ', refused.length > 0 &&
        [h('span', {class: 'badge bad'}, `${number(refused.length)} refused`), ' '],
      h('span', {class: 'badge warn'}, `${number(unused.length)} unused`), ' ',
        h('span', {class: 'badge good'}, `${number(used.length)} used`)), content);
  return details;
}

/** resource leaves out of an ARN what all have: partition, region and account. */
const resource = (arn) => arn.replace(/^arn:aws:([^:]*):[^:]*:[^:]*:/, '$1 ');

const ofLogs = (one) => one.resource.startsWith('arn:aws:logs:');

/** list is the table of permissions. Those of its logs, which every function has, are a line that opens. */
function list(kind, permissions, note) {
  const rows = (some) => table({caption: kind, rows: some, columns: [
    {label: 'Action', cell: (one) => h('code', null, one.action)},
    {label: 'Resource', cell: (one) => h('code', {title: one.resource}, resource(one.resource))},
    ...(note ? [{label: kind === 'Refused' ? 'How often' : 'Policy', cell: note}] : []),
  ]});
  const logs = kind === 'Refused' ? [] : permissions.filter(ofLogs);
  const others = permissions.filter((one) => !logs.includes(one));
  return [
    others.length > 0 && rows(others),
    logs.length > 0 && h('details', null,
      h('summary', null, `${kind}: ${plural(logs.length, 'permission')} for its log groups and streams`), rows(logs)),
  ];
}
