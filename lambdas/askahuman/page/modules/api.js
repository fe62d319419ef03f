// The platform's API, as people have it.

import {client} from '../../../kit/webapp/modules/requests.js';
import {write} from '../../../kit/webapp/modules/store.js';
import * as operations from './operations.js';
import {person} from './person.js';
import {copied, erased} from './personal.js';

const zone = () => {
  try {
    return Intl.DateTimeFormat().resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

export const {call} = client({
  headers: () => ({'X-Fingerprint': person(), ...(zone() && {'X-Timezone': zone()})}),
  // closed: the question takes no answers. answered: already. blocked: this person may not.
  kinds: {410: 'closed', 409: 'answered', BLOCKED: 'blocked', NEVER_ANSWERED: 'unnamed', HANDLE_RESET: 'reset',
    HANDLE_RESERVED: 'handleReserved', HANDLE_OFFENSIVE: 'handleOffensive', HANDLE_NUMBER: 'handleNumber',
    HANDLE_TAKEN: 'handleTaken', HANDLE_NOT_FOUND: 'handleGone'},
  // How many more answers this person may send, and until when, is told before they are spent.
  seen({url, headers}) {
    const left = Number.parseInt(headers.get('X-RateLimit-Remaining') ?? '', 10);
    if (url.endsWith('/human/responses') && Number.isFinite(left)) write('limit',
      {left, until: Number(headers.get('X-RateLimit-Reset')) * 1000});
  },
});

export const feed = ({signal, ...values}) => call(operations.listOpenQuestions, {limit: 20, ...values}, {signal});

/** question reads a question. opened is a moment at which it surely took answers. */
export async function question(id, signal) {
  const opened = Date.now();
  return {...await call(operations.readOpenQuestion, {question_id: id}, {signal}), opened};
}

export const stats = (signal) => call(operations.readStats, {}, {signal});

export const responses = (cursor, signal) => call(operations.listAnswers, {limit: 20, cursor}, {signal});

export const leaderboard = (period, signal) => call(operations.readLeaderboard, {period, limit: 20}, {signal});

export const chooseHandle = (handle) => call(operations.chooseHandle, {}, {body: {handle}});

export const dropHandle = () => call(operations.dropHandle);

/** data returns all that is kept about the person. */
export const data = () => copied((cursor) => call(operations.exportData, {cursor}));

export const deleteData = () => erased(() => call(operations.deleteData));

export const answer = (body) => call(operations.answerQuestion, {}, {body});

export const report = (body) => call(operations.reportQuestion, {}, {body});
