// Changes of things that the API has by id and version: the person sees them at once, the device keeps them, and they
// are sent in their order, once. A change that was meant for an older version is a conflict, which the person settles.

import {Outbox} from './outbox.js';
import {Problem} from './requests.js';
import {read, write} from './store.js';

const newer = (one, other) => other && (!one || other.version > one.version) ? other : one;

/**
 * Changes is an outbox of entries {id, title, match, body: {kind, things, change}}. The kind is add, edit, or another
 * one of the page's, which may change several things. Things have an id, a version and a title; an id that begins with
 * "new-" is of this device alone.
 */
export class Changes extends Outbox {
  #id;
  #shown;
  #conflicts;
  // The newest versions that answers had, by id; null is a thing that is gone. Lists follow a moment later.
  #fresh = new Map();
  #given = new Map();
  #first = new Map();
  // Ids with the versions that a change of this device has replaced by the next one.
  #replaced = new Set();

  /**
   * send sends the body of an entry with the headers, and returns the thing as it is then, or those of several that
   * have changed. id is the name of the field with the id. owner is the person: what is kept of one is never sent by
   * another. shown are the kinds whose change is seen before it is sent.
   */
  constructor({send, id, owner, shown = ['edit']}) {
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
    this.#shown = shown;
    this.#conflicts = `conflicts.${owner}`;
  }

  #decide({id, body: {kind, things, change}}, {kind: outcome, receipt}) {
    for (const thing of things) {
      const own = thing[this.#id];
      if (outcome === 'changed') write(this.#conflicts, {...this.conflicts(), [own]: {title: thing.title, change}});
      if (outcome === 'gone' || outcome === 'sent' && !receipt) this.#fresh.set(own, null);
      const now = [receipt].flat().find((one) => one && (kind === 'add' || one[this.#id] === own));
      if (now) this.#changed(id, thing, now, kind);
    }
  }

  /** changed notes what a thing has become by the entry with the id. */
  #changed(id, thing, now, kind) {
    const own = thing[this.#id], given = now[this.#id];
    this.#fresh.set(given, now);
    if (now.version - thing.version === 1) this.#replaced.add(`${given} ${thing.version}`);
    if (kind === 'add') {
      this.#given.set(own, given);
      this.#first.set(given, own);
    }
    for (const {id: other, match, body} of this.waiting()) {
      if (other === id || !body.things.some((one) => one[this.#id] === own)) continue;
      // What was written after this change was meant for its result, unless someone else has changed the thing as well.
      const next = match !== null && now.version - match <= 1 ? now.version : match;
      this.change(other, {match: next,
        body: {...body, things: body.things.map((one) => one[this.#id] === own ? now : one)}});
    }
  }

  /** idOf is the id that the server has given, and nameOf the one that a thing had first on this device. */
  idOf(id) { return this.#given.get(id) ?? id; }

  nameOf(id) { return this.#first.get(id) ?? id; }

  /** make keeps a change of things, and sends it as soon as can be; before, it can be taken back for so many ms. */
  make(kind, of, change, {match = null, undo = 0} = {}) {
    const things = [of].flat();
    this.keep({id: crypto.randomUUID(), title: things[0].title, match, body: {kind, things, change}}, undo);
    this.flush();
  }

  /** add adds a thing with these fields; thing is what it looks like until the server has it. */
  add(fields, thing) {
    this.make('add', {...thing, ...fields, [this.#id]: `new-${crypto.randomUUID()}`, version: 0}, fields);
  }

  /** edit changes fields of the version that the person has seen, or of what this device has made of that since. */
  edit(thing, change) {
    const id = this.idOf(thing[this.#id]);
    let match = thing.version;
    while (this.#replaced.has(`${id} ${match}`)) match++;
    this.make('edit', {...thing, [this.#id]: id}, change, {match});
  }

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
    for (const {id, attempted, body: {kind, things, change}} of this.waiting()) {
      for (const thing of things) {
        const own = thing[this.#id];
        all.set(own, {...newer(all.get(own), thing), ...(this.#shown.includes(kind) && change), waits: kind,
          takeBack: attempted ? null : () => this.takeBack(id)});
      }
    }
    return all;
  }
}
