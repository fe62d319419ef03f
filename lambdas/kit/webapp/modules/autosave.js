// What someone writes for a long time: the device keeps each letter, and the server gets it when they pause.

import {dropDraft, keepDraft} from './store.js';

const pause = 1_500, later = 15_000;

/** saving are the saves that are under way, by name. A view that comes back waits for the one that it left behind. */
export const saving = new Map();

/**
 * autosave keeps values under a name of a draft, and saves them: save(values) returns what to change in them, or
 * throws a Problem. tell gets waiting, saving, saved or the kind of a Problem, with the Problem. When the signal ends,
 * what is not saved is. Values that are unsaved from before are saved at once.
 */
export function autosave(name, values, {save, tell, signal}) {
  let timer = null, running = null;
  const plan = (after) => {
    clearTimeout(timer);
    timer = setTimeout(flush, after);
  };
  const keep = (changes) => keepDraft(name, Object.assign(values, changes));

  async function run() {
    while (values.unsaved) {
      values.unsaved = false;
      tell('saving');
      try {
        keep(await save(values));
      } catch (error) {
        keep({unsaved: true});
        if (!error.kind) throw error;
        tell(error.kind, error);
        if (error.unknown && !signal.aborted) plan(later);
        return error;
      }
    }
    tell('saved');
    return null;
  }

  /** flush saves now, and returns the Problem that prevents it, or null. */
  function flush() {
    clearTimeout(timer);
    running ??= run().finally(() => {
      running = null;
      saving.delete(name);
    });
    saving.set(name, running);
    return running;
  }

  addEventListener('online', flush, {signal});
  addEventListener('pagehide', flush, {signal});
  signal.addEventListener('abort', () => values.unsaved && flush());
  if (values.unsaved) plan(0);
  return {
    flush,
    change(changes) {
      keep({...changes, unsaved: true});
      tell('waiting');
      plan(pause);
    },
    /** end forgets the draft. */
    end() {
      clearTimeout(timer);
      values.unsaved = false;
      dropDraft(name);
    },
  };
}
