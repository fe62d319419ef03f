// Server-sent events: one connection for the page while it is seen. Browsers open few connections to one server, so a
// hidden page has none.

const listeners = new Map();
let source = null;
let report = () => {};

function open() {
  if (source || document.hidden) return;
  source = new EventSource('/events');
  source.onopen = () => {
    report(true);
    for (const listener of listeners.get('open') ?? []) listener();
  };
  source.onerror = () => report(false);
  for (const kind of ['request', 'line', 'change']) {
    source.addEventListener(kind, (event) => {
      const document = JSON.parse(event.data);
      for (const listener of listeners.get(kind) ?? []) listener(document);
    });
  }
}

function close() {
  source?.close();
  source = null;
  report(false);
}

/** start opens the connection, and tells whether it stands. */
export function start(tell) {
  report = tell;
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);
  open();
}

/** on calls a function with each event of a kind, until the signal. Of the kind open are new connections: what came
 * before is not told. */
export function on(kind, listener, signal) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(listener);
  signal?.addEventListener('abort', () => listeners.get(kind).delete(listener));
}

/** every calls a function now and again while the page is seen, until the signal. */
export function every(milliseconds, work, signal) {
  let running = false;
  const timer = setInterval(async () => {
    if (document.hidden || running) return;
    running = true;
    try {
      await work();
    } catch { /* the next one tries again */ } finally {
      running = false;
    }
  }, milliseconds);
  signal.addEventListener('abort', () => clearInterval(timer));
}
