// Requests of the platform's API, on the page's own origin, and what can come of them.

import {person} from './store.js';

/**
 * Problem says why a request came to nothing. Its kind is one of: offline (no answer came), server (the server failed), limited (too
 * many requests; after is the seconds to wait), closed (the question takes no answers), gone (there is no such thing), answered
 * (already), blocked (this person may not), refused (anything else that the server does not take). Of offline and server one cannot
 * know whether the request was carried out.
 */
export class Problem extends Error {
  constructor(kind, {message = '', after = null} = {}) {
    super(message || kind);
    this.name = 'Problem';
    this.kind = kind;
    this.after = after;
  }

  /** unknown reports whether the request may have been carried out. */
  get unknown() { return this.kind === 'offline' || this.kind === 'server'; }
}

const patience = 30_000;

const zone = () => {
  try {
    return Intl.DateTimeFormat().resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

/** request sends one request, and returns the body of its answer. It throws a Problem, or an AbortError if the signal ends it. */
export async function request(method, path, {body, signal} = {}) {
  const headers = {'X-Fingerprint': person()};
  if (zone()) headers['X-Timezone'] = zone();
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const ending = new AbortController();
  const end = () => ending.abort();
  signal?.addEventListener('abort', end);
  const timer = setTimeout(end, patience);
  try {
    const answer = await fetch(path, {
      method, headers, signal: ending.signal, cache: 'no-store', credentials: 'omit', redirect: 'error',
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw problemOf(answer, text);
    return text ? JSON.parse(text) : null;
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (signal?.aborted) throw new DOMException('left', 'AbortError');
    throw new Problem(error instanceof SyntaxError ? 'server' : 'offline', {message: error.message});
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** problemOf reads an error of the platform, or of the gateway before it, which has another form. */
export function problemOf(answer, text) {
  let error = {};
  try {
    error = JSON.parse(text)?.error ?? {};
  } catch {
    // Not of the platform: the status says enough.
  }
  const seconds = Number.parseInt(answer.headers.get('Retry-After') ?? '', 10);
  const details = {message: typeof error.message === 'string' ? error.message : '', after: Number.isFinite(seconds) ? Math.max(1, seconds) : null};
  if (answer.status >= 500) return new Problem('server', details);
  if (answer.status === 429) return new Problem('limited', {...details, after: details.after ?? 60});
  if (error.code === 'BLOCKED') return new Problem('blocked', details);
  const kinds = {404: 'gone', 410: 'closed', 409: 'answered'};
  return new Problem(kinds[answer.status] ?? 'refused', details);
}

const pauses = [400, 1200];

/** get reads, and tries again where the server fails for a moment. */
export async function get(path, signal) {
  for (let tries = 0; ; tries++) {
    try {
      return await request('GET', path, {signal});
    } catch (error) {
      if (!(error instanceof Problem) || error.kind !== 'server' || tries === pauses.length) throw error;
      await new Promise((done) => setTimeout(done, pauses[tries]));
      if (signal?.aborted) throw new DOMException('left', 'AbortError');
    }
  }
}

export const feed = ({audience, cursor, limit = 20, signal}) => {
  const parameters = new URLSearchParams({limit});
  if (audience) parameters.set('audience', audience);
  if (cursor) parameters.set('cursor', cursor);
  return get(`/human/questions?${parameters}`, signal);
};

export const question = (id, signal) => get(`/human/questions/${encodeURIComponent(id)}`, signal);

export const stats = (signal) => get('/human/stats', signal);

export const leaderboard = (period, signal) => get(`/human/leaderboard?${new URLSearchParams({period, limit: 20})}`, signal);

export const answer = (body) => request('POST', '/human/responses', {body});

export const report = (body) => request('POST', '/human/reports', {body});
