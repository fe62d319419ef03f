// What someone sends, on its way. Each entry is kept on the device before it is sent, and until the server has said
// what became of it: a reload, a closed page or a lost network loses none. So sending one twice has to be safe.

import {Problem} from './requests.js';
import {elsewhere, read, write} from './store.js';

const shortest = 2_000, longest = 5 * 60_000;
const pauses = [500, 1500];

/**
 * Outbox sends entries: {id, title, body}. It has the events "change", when what waits changes; "settled" with {entry,
 * outcome} in detail, when an entry has been decided; and "delayed" with {entry, problem}, when it is sent again later.
 * An outcome has a kind: sent, with the server's answer as receipt, which is null if an earlier attempt had arrived; or
 * that of the Problem that ends it, with the problem.
 */
export class Outbox extends EventTarget {
  #send;
  #arrived;
  #decided;
  #settling;
  #key;
  #ordered;
  #pause = shortest;
  #timer = null;
  #at = Infinity;
  #underWay = false;
  #attempts = new Map();

  /**
   * send sends an entry and returns the server's answer, or throws a Problem. arrived reports whether a Problem says
   * that an earlier attempt had arrived. decided is called with an entry and its outcome, before it leaves; settling,
   * after it has left: "settled" waits for its promise, so that what is said of an entry agrees with all that is shown.
   * key is the name under which the entries are kept. Of an ordered outbox no entry is sent before those ahead of it
   * are decided.
   */
  constructor({send, arrived = () => false, decided = () => {}, settling = () => null, key = 'outbox',
    ordered = false}) {
    super();
    this.#key = key;
    this.#ordered = ordered;
    this.#send = send;
    this.#arrived = arrived;
    this.#decided = decided;
    this.#settling = settling;
  }

  /** waiting lists the entries that are not decided yet. */
  waiting() { return read(this.#key, []); }

  find(id) { return this.waiting().find((entry) => entry.id === id) ?? null; }

  #save(entries) {
    write(this.#key, entries);
    this.dispatchEvent(new Event('change'));
  }

  #without(id) { return this.waiting().filter((entry) => entry.id !== id); }

  /** change gives an entry other values. */
  change(id, values) { this.#save(this.waiting().map((entry) => entry.id === id ? {...entry, ...values} : entry)); }

  /** keep puts an entry into the outbox. It can be taken back for so many ms, if the page is not left before. */
  keep(entry, undo = 0) {
    const now = Date.now();
    this.#save([...this.#without(entry.id), {...entry, attempted: false, kept: now, until: now + undo}]);
    if (undo) this.#plan(undo);
  }

  /** takeBack removes an entry that was never sent, and returns it; null if it is too late. */
  takeBack(id) {
    const entry = this.find(id);
    if (!entry || entry.attempted) return null;
    this.#save(this.#without(id));
    return entry;
  }

  /**
   * deliver sends one entry, and tries again at once where the server fails for a moment. What has to be sent again is,
   * later.
   */
  async deliver(id) {
    for (let tries = 0; ; tries++) {
      // One tab at a time sends.
      const alone = (work) => navigator.locks ? navigator.locks.request(`${this.#key} ${id}`, work) : work();
      const problem = await alone(() => this.#attempt(id));
      if (!problem) return;
      if (problem.kind === 'server' && tries < pauses.length) {
        await new Promise((done) => setTimeout(done, pauses[tries]));
        continue;
      }
      // Where there is no network at all, the browser says when there is one again.
      if (navigator.onLine !== false) this.#plan(Math.max((problem.after ?? 0) * 1000, this.#pause));
      this.#pause = Math.min(longest, this.#pause * 2);
      this.dispatchEvent(new CustomEvent('delayed', {detail: {entry: this.find(id), problem}}));
      return;
    }
  }

  /**
   * attempt sends an entry once, or waits for the attempt that is under way. It returns the Problem if the entry has to
   * be sent again.
   */
  #attempt(id) {
    const attempt = this.#attempts.get(id) ?? this.#try(id).finally(() => this.#attempts.delete(id));
    this.#attempts.set(id, attempt);
    return attempt;
  }

  async #try(id) {
    const entry = this.find(id);
    if (!entry) return null;
    const {attempted} = entry;
    this.change(id, {attempted: true, until: 0});
    try {
      this.#settle(entry, {kind: 'sent', receipt: await this.#send(entry)});
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (problem.unknown) return problem;
      // Nothing was carried out, and later it may be.
      if (problem.kind === 'limited' || problem.kind === 'signedOut') {
        this.change(id, {attempted});
        return problem;
      }
      if (attempted && this.#arrived(problem)) this.#settle(entry, {kind: 'sent', receipt: null});
      else this.#settle(entry, {kind: problem.kind, problem});
    }
    return null;
  }

  async #settle(entry, outcome) {
    this.#pause = shortest;
    this.#decided(entry, outcome);
    this.#save(this.#without(entry.id));
    await this.#settling(entry, outcome);
    this.dispatchEvent(new CustomEvent('settled', {detail: {entry, outcome}}));
  }

  /** plan sends what waits after so many ms, or sooner if that is planned. */
  #plan(after) {
    const at = Date.now() + after;
    if (at >= this.#at) return;
    clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(() => {
      this.#at = Infinity;
      this.flush();
    }, after);
  }

  /** flush sends all that waits, in its order, but for what can still be taken back. */
  async flush() {
    if (this.#underWay) return;
    this.#underWay = true;
    let undo = Infinity;
    try {
      const seen = new Set();
      for (let next; (next = this.waiting().find(({id}) => !seen.has(id)));) {
        seen.add(next.id);
        const left = next.until - Date.now();
        if (left > 0) undo = Math.min(undo, left);
        else await this.deliver(next.id);
        const rest = this.find(next.id);
        if (rest && (this.#ordered || rest.attempted)) break;
      }
    } finally {
      this.#underWay = false;
    }
    if (undo < Infinity) this.#plan(undo);
  }

  /** leave sends at once what could still be taken back: the page goes, and the browser sends on. */
  leave() {
    if (this.#ordered) {
      for (const {id, until} of this.waiting()) if (until) this.change(id, {until: 0});
      this.flush();
      return;
    }
    for (const {id, until} of this.waiting()) if (until > Date.now()) this.#attempt(id);
  }

  /** start sends what waits now, when there is a network again, and when someone comes back to the page. */
  start() {
    const soon = () => {
      this.#pause = shortest;
      if (this.waiting().length > 0) this.flush();
    };
    addEventListener('online', soon);
    addEventListener('pagehide', () => this.leave());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') soon();
      else this.leave();
    });
    elsewhere((changed) => { if (changed === this.#key) this.dispatchEvent(new Event('change')); });
    soon();
  }
}
