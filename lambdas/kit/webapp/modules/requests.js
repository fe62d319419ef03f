// Requests of the platform's API, on the page's own origin, and what can come of them.

/**
 * Problem says why a request came to nothing. Its kind is one of: offline (no answer came), server (the server failed),
 * limited (too many requests; after is the seconds to wait), gone (there is no such thing), refused (anything else
 * that the server does not take), or one of the page's own. told is the error as the platform told it. Of
 * offline and server one cannot know whether the request was carried out.
 */
export class Problem extends Error {
  constructor(kind, {message = '', after = null, status = 0, told = {}} = {}) {
    super(message || kind);
    this.name = 'Problem';
    this.kind = kind;
    this.after = after;
    this.status = status;
    this.told = told;
  }

  /** unknown reports whether the request may have been carried out. */
  get unknown() { return this.kind === 'offline' || this.kind === 'server'; }
}

const patience = 30_000;
const pauses = [400, 1200];

/**
 * client returns {call}. headers returns the headers of a request, also later; kinds are the kinds of Problem by
 * the API's codes; seen is called with each answer.
 */
export function client({headers = () => ({}), kinds = {}, seen = () => {}} = {}) {
  /**
   * request sends one request, and returns the body of its answer. It throws a Problem, or an AbortError if the signal
   * ends it.
   */
  async function request(method, path, {body, signal, ...more} = {}) {
    const ending = new AbortController();
    const end = () => ending.abort();
    signal?.addEventListener('abort', end);
    const timer = setTimeout(end, patience);
    try {
      const sent = {...await headers(), ...more.headers};
      if (body !== undefined) sent['Content-Type'] = 'application/json';
      const answer = await fetch(path, {
        method, headers: sent, signal: ending.signal, cache: 'no-store', credentials: 'omit', redirect: 'error',
        // What is sent goes on when the page is left.
        keepalive: method !== 'GET', body: body === undefined ? undefined : JSON.stringify(body),
      });
      seen(answer);
      const text = await answer.text();
      if (!answer.ok) throw problemOf(answer, text, kinds);
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

  /** get reads, and tries again where the server fails for a moment. */
  async function get(path, {signal, headers}) {
    for (let tries = 0; ; tries++) {
      try {
        return await request('GET', path, {signal, headers});
      } catch (error) {
        if (!(error instanceof Problem) || error.kind !== 'server' || tries === pauses.length) throw error;
        await new Promise((done) => setTimeout(done, pauses[tries]));
        if (signal?.aborted) throw new DOMException('left', 'AbortError');
      }
    }
  }

  /**
   * call carries out an operation of the API's document, {method, path, query}. Values fill the path and the query;
   * those that are undefined, null or empty are left out. options are {body, signal, headers}.
   */
  function call({method, path, query = []}, values = {}, options = {}) {
    const address = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]));
    const given = query.filter((name) => ![undefined, null, ''].includes(values[name])).map((name) =>
      [name, values[name]]);
    const whole = given.length > 0 ? `${address}?${new URLSearchParams(given)}` : address;
    return method === 'GET' ? get(whole, options) : request(method, whole, options);
  }

  return {call};
}

/** problemOf reads an error of the platform, or of the gateway before it, which has another form. */
export function problemOf(answer, text, kinds = {}) {
  let error = {};
  try {
    // Some platforms have {error: {code, message}}, some {error: message}, some {error_code, message}, and some
    // {detail}: a text, or a list of what is wrong.
    const {error: said, error_code: code, message, detail} = JSON.parse(text) ?? {};
    error = typeof said === 'object' && said ? said : {code, message: said ?? (code && message) ??
      (Array.isArray(detail) ? detail.map((one) => one.message).join('; ') : detail)};
  } catch {
    // Not of the platform: the status says enough.
  }
  const {status} = answer;
  const details = {
    status, message: typeof error.message === 'string' ? error.message : '',
    after: secondsUntil(answer.headers.get('Retry-After') ?? ''), told: error,
  };
  if (status >= 500) return new Problem('server', details);
  if (status === 429) return new Problem('limited', {...details, after: details.after ?? 60});
  return new Problem(kinds[error.code] ?? kinds[status] ?? (status === 404 ? 'gone' : 'refused'), details);
}

/** secondsUntil reads a Retry-After, which is seconds or a date (RFC 9110, section 10.2.3), or null. A day is the
 * longest: no timer or clock takes any number. */
function secondsUntil(text) {
  const date = text.endsWith('GMT') ? Date.parse(text) : NaN;
  const seconds = /^\d+$/.test(text) ? Number(text) : (date - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(86_400, Math.max(1, Math.ceil(seconds)));
}
