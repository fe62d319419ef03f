// The order of tables' rows, which people choose by a heading. It belongs to the view, and stays while that is drawn
// again.

const chosen = new Map();

const orderOf = (columns) => `${location.hash.split('?')[0]} ${columns.map((column) => column.label).join('|')}`;

/** turn sorts by a column: a column of numbers from the largest, another from the first. The next time it is the other
 * way round, and then as it was. */
export function turn(columns, {label, number}) {
  const [first, second] = number ? ['descending', 'ascending'] : ['ascending', 'descending'];
  const key = orderOf(columns);
  const former = chosen.get(key);
  if (former?.label !== label) chosen.set(key, {label, direction: first});
  else if (former.direction === first) chosen.set(key, {label, direction: second});
  else chosen.delete(key);
}

/** directionOf is ascending or descending, or undefined if a column does not sort the table. */
export function directionOf(columns, {label}) {
  const order = chosen.get(orderOf(columns));
  return order?.label === label ? order.direction : undefined;
}

// The numbers of a column may have several of these units.
const units = {ms: 1, s: 1e3, min: 6e4, B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30};

/** valueOf reads a cell: a time, a number with its unit, or a text. Without any it is null. */
function valueOf(cell, number) {
  const text = cell.querySelector('time')?.dateTime ?? cell.textContent.trim();
  if (text === '' || text === '–') return null;
  if (!number) return text;
  if (Number.isFinite(Number(text))) return Number(text);
  const [, figure, unit] = text.match(/^\$?(-?[\d,]*\.?\d+)\s*([A-Za-z]*)/) ?? [];
  return figure ? Number(figure.replaceAll(',', '')) * (units[unit] ?? 1) : null;
}

const collator = new Intl.Collator('en', {numeric: true});

const compare = (a, b) => (typeof a === 'number' ? a - b : collator.compare(a, b));

/** sorted returns rows in the order that someone chose, those without a value last. */
export function sorted(columns, rows) {
  const order = chosen.get(orderOf(columns));
  const at = columns.findIndex((column) => column.label === order?.label);
  if (at < 0) return rows;
  const turned = order.direction === 'descending' ? -1 : 1;
  return rows.map((row) => ({row, value: valueOf(row.children[at], columns[at].number)}))
    .sort((a, b) => (a.value === null) - (b.value === null) ||
      (a.value === null ? 0 : turned * compare(a.value, b.value)))
    .map(({row}) => row);
}
