// Items of DynamoDB, with the types of their values and without.

/** plain leaves the types out. */
export function plain(item) {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, withoutType(value)]));
}

function withoutType(value) {
  const [[kind, inner]] = Object.entries(value);
  switch (kind) {
    case 'N': return Number(inner);
    case 'NS': return inner.map(Number);
    case 'NULL': return null;
    case 'L': return inner.map(withoutType);
    case 'M': return plain(inner);
    default: return inner;
  }
}

/** typed gives plain values their types. */
export function typed(document) {
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name, withType(value)]));
}

function withType(value) {
  if (value === null) return {NULL: true};
  if (Array.isArray(value)) return {L: value.map(withType)};
  switch (typeof value) {
    case 'string': return {S: value};
    case 'number': return {N: String(value)};
    case 'boolean': return {BOOL: value};
    default: return {M: typed(value)};
  }
}

/** exact reports whether an item is the same after it was plain. */
export function exact(item) {
  return Object.values(item).every(same);
}

function same(value) {
  const [[kind, inner]] = Object.entries(value);
  switch (kind) {
    case 'S': case 'BOOL': return true;
    case 'NULL': return inner === true;
    case 'N': return String(Number(inner)) === inner;
    case 'L': return inner.every(same);
    case 'M': return exact(inner);
    default: return false;
  }
}

/** value writes an attribute in a line. */
export function value(attribute) {
  if (attribute === undefined) return '';
  const [[kind, inner]] = Object.entries(attribute);
  if (kind === 'S' || kind === 'N' || kind === 'B') return inner;
  if (kind === 'NULL') return 'null';
  if (kind === 'BOOL') return String(inner);
  return JSON.stringify(plain({x: attribute}).x);
}
