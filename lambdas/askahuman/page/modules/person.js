// Who one is: an anonymous id, the only thing that tells people apart.

import {keys, read, remove, write} from '../../../kit/webapp/modules/store.js';

/** person is the id that this device shows. */
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

/**
 * become forgets the person and all that belongs to them, but for the language, and shows another id: a new one, or the
 * given one.
 */
export function become(id = random()) {
  for (const key of keys()) if (key !== 'language') remove(key);
  write('person', id);
}
