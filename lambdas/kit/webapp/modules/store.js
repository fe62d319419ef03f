// What this device keeps. A browser may refuse to, as in some private windows: then it lasts as long as the page is
// open.

import {key as name} from './settings.js';

const prefix = `${name}.`;

/**
 * storage returns {read, write, remove, keys} of a browser's storage: of what has a prefix there. What the browser
 * refuses to keep lasts as long as the document.
 */
export function storage(area, prefix) {
  const memory = new Map();
  const attempt = (stored, otherwise) => {
    try {
      return stored(area());
    } catch {
      return otherwise();
    }
  };
  return {
    /** read returns what is kept, or the fallback. */
    read(key, fallback = null) {
      const text = memory.get(key) ?? attempt((kept) => kept.getItem(prefix + key), () => null);
      if (text === null || text === undefined) return fallback;
      try {
        return JSON.parse(text) ?? fallback;
      } catch {
        return fallback;
      }
    },
    /** write keeps a value. */
    write(key, value) {
      const text = JSON.stringify(value);
      attempt((kept) => {
        kept.setItem(prefix + key, text);
        memory.delete(key);
      }, () => memory.set(key, text));
    },
    /** remove forgets a value. */
    remove(key) {
      memory.delete(key);
      attempt((kept) => kept.removeItem(prefix + key), () => {});
    },
    /** keys lists what is kept. */
    keys() {
      const stored = attempt((kept) => Object.keys(kept).filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(prefix.length)), () => []);
      return [...new Set([...stored, ...memory.keys()])];
    },
  };
}

export const {read, write, remove, keys} = storage(() => globalThis.localStorage, prefix);

/** elsewhere calls back with the key of each value that another tab writes or removes, until the signal ends it. */
export function elsewhere(call, signal) {
  addEventListener('storage', ({key}) => {
    if (key?.startsWith(prefix)) call(key.slice(prefix.length));
  }, {signal});
}

// Drafts: what someone has written and not sent, by the name of what it belongs to.

const week = 7 * 24 * 60 * 60 * 1000;

export const draft = (id) => read(`draft.${id}`);

export const keepDraft = (id, value) => write(`draft.${id}`, {...value, kept: Date.now()});

export const dropDraft = (id) => remove(`draft.${id}`);

/** tidy drops the drafts that are older than a week. */
export function tidy(now = Date.now()) {
  for (const key of keys()) if (key.startsWith('draft.') && !(read(key)?.kept > now - week)) remove(key);
}
