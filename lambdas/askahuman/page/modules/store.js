// What this device keeps. A browser may refuse to, as in some private windows: then it lasts as long as the page is open.

const prefix = 'ask-a-human.';
const memory = new Map();

function attempt(stored, otherwise) {
  try {
    return stored(globalThis.localStorage);
  } catch {
    return otherwise();
  }
}

/** read returns what is kept, or the fallback. */
export function read(key, fallback = null) {
  const text = memory.get(key) ?? attempt((area) => area.getItem(prefix + key), () => null);
  if (text === null || text === undefined) return fallback;
  try {
    return JSON.parse(text) ?? fallback;
  } catch {
    return fallback;
  }
}

/** write keeps a value. */
export function write(key, value) {
  const text = JSON.stringify(value);
  attempt((area) => {
    area.setItem(prefix + key, text);
    memory.delete(key);
  }, () => memory.set(key, text));
}

/** remove forgets a value. */
export function remove(key) {
  memory.delete(key);
  attempt((area) => area.removeItem(prefix + key), () => {});
}

/** keys lists what is kept. */
export function keys() {
  const stored = attempt((area) => Object.keys(area).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)), () => []);
  return [...new Set([...stored, ...memory.keys()])];
}

/** person is the anonymous id that this device shows: the only thing that tells people apart. */
export function person() {
  let id = read('person');
  if (typeof id !== 'string' || !id) {
    id = random();
    write('person', id);
  }
  return id;
}

function random() {
  // Pages without https have no randomUUID.
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** becomeAnother forgets the person and all that belongs to them. The language stays. */
export function becomeAnother() {
  for (const key of keys()) if (key !== 'language') remove(key);
  return person();
}

// What someone has written and not sent, by question, with the question as it was.

const week = 7 * 24 * 60 * 60 * 1000;

export const draft = (id) => read(`draft.${id}`);

export const keepDraft = (id, value) => write(`draft.${id}`, {...value, kept: Date.now()});

export const dropDraft = (id) => remove(`draft.${id}`);

/** tidy drops the drafts of questions that have long ended. */
export function tidy(now = Date.now()) {
  for (const key of keys()) if (key.startsWith('draft.') && !(read(key)?.kept > now - week)) remove(key);
}

// The questions that the feed leaves out: those that this device has answered, which the server lists for a moment more, and
// those that someone has passed over or reported, for good.

const most = {answered: 200, passed: 1000};

const remember = (key, id) => write(key, [id, ...read(key, []).filter((other) => other !== id)].slice(0, most[key]));

export const rememberAnswered = (id) => remember('answered', id);

export const pass = (id) => remember('passed', id);

export const takeUp = (id) => write('passed', read('passed', []).filter((other) => other !== id));

export const leftOut = () => Object.keys(most).flatMap((key) => read(key, []));
