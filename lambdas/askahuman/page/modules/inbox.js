// The push inbox of a local run, in place of Firebase and of the browser's push service, which need a network and an
// account. It reaches this device as long as the page is open.

import {settings} from '../../../kit/webapp/modules/settings.js';

let stream = null;

/** open makes this device the one of a token, or of a new one, and returns {token, endpoint}. */
export function open(token = `page-${crypto.randomUUID()}`) {
  const endpoint = `${settings.inbox}/devices/${encodeURIComponent(token)}`;
  if (stream?.url !== endpoint) listen(endpoint);
  return {token, endpoint};
}

function listen(endpoint) {
  close();
  stream = new EventSource(endpoint);
  stream.onmessage = async ({data}) => (await navigator.serviceWorker.ready).active.postMessage({push: data});
}

/** close ends it. */
export function close() {
  stream?.close();
  stream = null;
}

// A page that the browser keeps to come back to shows nothing, and would take what is for another one.
addEventListener('pagehide', () => stream?.close());
addEventListener('pageshow', ({persisted}) => {
  if (persisted && stream) listen(stream.url);
});
