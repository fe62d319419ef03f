// The platform's API, as people have it.

import {client} from '../../../kit/webapp/modules/requests.js';
import {write} from '../../../kit/webapp/modules/store.js';
import {person} from './person.js';

const zone = () => {
  try {
    return Intl.DateTimeFormat().resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

export const {request, get} = client({
  headers: () => ({'X-Fingerprint': person(), ...(zone() && {'X-Timezone': zone()})}),
  // closed: the question takes no answers. answered: already. blocked: this person may not.
  kinds: {410: 'closed', 409: 'answered', BLOCKED: 'blocked', NEVER_ANSWERED: 'unnamed', HANDLE_RESET: 'reset'},
  // How many more answers this person may send, and until when, is told before they are spent.
  seen({url, headers}) {
    const left = Number.parseInt(headers.get('X-RateLimit-Remaining') ?? '', 10);
    if (url.endsWith('/human/responses') && Number.isFinite(left)) write('limit', {left, until: Number(headers.get('X-RateLimit-Reset')) * 1000});
  },
});

export const feed = ({audience, cursor, limit = 20, signal}) => {
  const parameters = new URLSearchParams({limit});
  if (audience) parameters.set('audience', audience);
  if (cursor) parameters.set('cursor', cursor);
  return get(`/human/questions?${parameters}`, signal);
};

export const question = (id, signal) => get(`/human/questions/${encodeURIComponent(id)}`, signal);

export const stats = (signal) => get('/human/stats', signal);

export const responses = (cursor, signal) => get(`/human/responses?${new URLSearchParams({limit: 20, ...(cursor && {cursor})})}`, signal);

export const leaderboard = (period, signal, limit = 20) => get(`/human/leaderboard?${new URLSearchParams({period, limit})}`, signal);

export const chooseHandle = (handle) => request('PUT', '/human/handle', {body: {handle}});

export const dropHandle = () => request('DELETE', '/human/handle');

/** data returns all that is kept about the person. */
export async function data() {
  const all = [];
  let cursor = '';
  do {
    const page = await get(`/human/data${cursor && `?${new URLSearchParams({cursor})}`}`);
    cursor = page.next_cursor;
    delete page.next_cursor;
    all.push(page);
  } while (cursor);
  return all;
}

/** deleteData deletes it, call by call. */
export async function deleteData() {
  for (let more = true; more;) {
    let wait;
    ({more = false, wait_seconds: wait = 0} = await request('DELETE', '/human/data'));
    await new Promise((done) => setTimeout(done, wait * 1000));
  }
}

export const answer = (body) => request('POST', '/human/responses', {body});

export const report = (body) => request('POST', '/human/reports', {body});
