// Changes of things that the API has by id and version: the person sees them at once, the device keeps them, and they
// are sent in their order, once. A change that was meant for an older version is a conflict, which the person settles.

import {Outbox} from './outbox.js';
import {Problem} from './requests.js';
import {read, write} from './store.js';

const newer = (one, other) => other && (!one || other.version > one.version) ? other : one;

/**
 * Changes is an outbox of entries {id, title, match, body: {kind, thing, change}}. The kind is add, edit, or another
 * one of the page's. Things have an id, a version and a title; an id that begins with "new-" is of this device alone.
 */
export class Changes extends Outbox {
  #id;
  #conflicts;
  // The newest versions that answers had, by id; null is a thing that is gone. Lists follow a moment later.
  #fresh = new Map();
  #given = new Map();
  #first = new Map();

  /**
   * send sends the body of an entry with the headers, and returns the thing as it is then. id is the name of the field
   * with the id. owner is the person: what is kept of one is never sent by another.
   */
  constructor({send, id, owner}) {
    super({
      key: `outbox.${owner}`, ordered: true, decided: (entry, outcome) => this.#decide(entry, outcome),
      send: async (entry) => {
        try {
          return await send(entry.body,
            {'Idempotency-Key': entry.id, ...(entry.match && {'If-Match': `"${entry.match}"`})});
        } catch (error) {
          // An earlier attempt is still under way.
          throw error.kind === 'busy' ? new Problem('server', error) : error;
        }
      },
    });
    this.#id = id;
    this.#conflicts = `conflicts.${owner}`;
  }

  #decide({id, body: {kind, thing, change}}, {kind: outcome, receipt}) {
    const own = thing[this.#id];
    if (outcome === 'changed') write(this.#conflicts, {...this.conflicts(), [own]: {title: thing.title, change}});
    if (outcome === 'gone' || outcome === 'sent' && !receipt) this.#fresh.set(own, null);
    if (!receipt) return;
    this.#fresh.set(receipt[this.#id], receipt);
    if (kind === 'add') {
      this.#given.set(own, receipt[this.#id]);
      this.#first.set(receipt[this.#id], own);
    }
    for (const {id: other, match, body} of this.waiting()) {
      if (other === id || body.thing[this.#id] !== own) continue;
      // What was written after this change was meant for its result, unless someone else has changed the thing as well.
      const next = match !== null && receipt.version - match <= 1 ? receipt.version : match;
      this.change(other, {match: next, body: {...body, thing: receipt}});
    }
  }

  /** idOf is the id that the server has given, and nameOf the one that a thing had first on this device. */
  idOf(id) { return this.#given.get(id) ?? id; }

  nameOf(id) { return this.#first.get(id) ?? id; }

  /** make keeps a change, and sends it as soon as can be; before, it can be taken back for so many ms. */
  make(kind, thing, change, {match = null, undo = 0} = {}) {
    this.keep({id: crypto.randomUUID(), title: thing.title, match, body: {kind, thing, change}}, undo);
    this.flush();
  }

  /** add adds a thing with these fields; thing is what it looks like until the server has it. */
  add(fields, thing) {
    this.make('add', {...thing, ...fields, [this.#id]: `new-${crypto.randomUUID()}`, version: 0}, fields);
  }

  /** edit changes fields of the version that the person has seen. */
  edit(thing, change) { this.make('edit', thing, change, {match: thing.version}); }

  /** conflicts are {title, change} by id: changes that were meant for an older version. */
  conflicts() { return read(this.#conflicts, {}); }

  /** settle ends a conflict. */
  settle(id) {
    const {[id]: settled, ...others} = this.conflicts();
    write(this.#conflicts, others);
    this.dispatchEvent(new Event('change'));
  }

  /**
   * merged returns things by id, with what was answered since and what waits. waits is the kind of change that does,
   * and takeBack takes it back, or is null.
   */
  merged(things) {
    const all = new Map();
    for (const thing of things) all.set(thing[this.#id], newer(all.get(thing[this.#id]), thing));
    for (const [id, thing] of this.#fresh) {
      if (thing) all.set(id, newer(all.get(id), thing));
      else all.delete(id);
    }
    for (const {id, attempted, body: {kind, thing, change}} of this.waiting()) {
      const own = thing[this.#id];
      all.set(own, {...newer(all.get(own), thing), ...(kind === 'edit' && change), waits: kind,
        takeBack: attempted ? null : () => this.takeBack(id)});
    }
    return all;
  }
}
