// What the console answers. Programs get the same.

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function read(response) {
  if (response.status === 204) return null;
  const text = await response.text();
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Refused(response.status, text || response.statusText);
  }
  if (!response.ok) throw new Refused(response.status, document.error ?? text);
  return document;
}

async function call(path, options) {
  let response;
  try {
    response = await fetch(path, {cache: 'no-store', ...options});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refused(0, 'The run does not answer: it has ended, or its machine is busy.');
  }
  return response;
}

/** get reads JSON. Parameters that are empty are left out. */
export async function get(path, parameters, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters ?? {})) if (value !== '' && value !== null &&
    value !== undefined) query.set(name, value);
  const end = query.toString();
  return read(await call(end ? `${path}?${end}` : path, {signal}));
}

/** send makes a change, for which the console wants a header. The body is JSON, or a text that is. */
export async function send(method, path, body, signal) {
  const text = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body);
  return read(await call(path, {method, body: text,
    headers: {'Content-Type': 'application/json', 'Onesynth-Console': 'page'}, signal}));
}

export const post = (path, body, signal) => send('POST', path, body, signal);

/** bytes reads an object's first bytes. */
export async function bytes(path, first) {
  const response = await call(`${path}?first=${first}`);
  if (!response.ok) await read(response);
  return {content: new Uint8Array(await response.arrayBuffer()),
    size: Number(response.headers.get('X-Object-Size')) || null};
}

/** at makes a path of parts, each of which may have any character. */
export const at = (...parts) => parts.map((part) => '/' + encodeURIComponent(part)).join('');
