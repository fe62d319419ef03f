// The platform's API, as people have it.

import {client} from '../../../kit/webapp/modules/requests.js';
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
  kinds: {410: 'closed', 409: 'answered', BLOCKED: 'blocked'},
});

export const feed = ({audience, cursor, limit = 20, signal}) => {
  const parameters = new URLSearchParams({limit});
  if (audience) parameters.set('audience', audience);
  if (cursor) parameters.set('cursor', cursor);
  return get(`/human/questions?${parameters}`, signal);
};

export const question = (id, signal) => get(`/human/questions/${encodeURIComponent(id)}`, signal);

export const stats = (signal) => get('/human/stats', signal);

export const leaderboard = (period, signal, limit = 20) => get(`/human/leaderboard?${new URLSearchParams({period, limit})}`, signal);

export const answer = (body) => request('POST', '/human/responses', {body});

export const report = (body) => request('POST', '/human/reports', {body});
