// Who is signed in, the language, and what is kept of the person.

import {account, data, who} from '../../../kit/webapp/modules/account.js';
import * as operations from './operations.js';
import {call, leave, me} from './person.js';

/** read returns all that is kept, which comes in pages: the attempts, and then the profiles. */
async function read() {
  const all = {attempts: [], profiles: []};
  for (let nextToken, page; !page || nextToken; nextToken = page.nextToken) {
    page = await call(operations.exportData, {limit: 100, nextToken});
    all.attempts.push(...page.attempts);
    all.profiles.push(...page.profiles);
  }
  return all;
}

export const show = ({reload}) => account(reload, who(me, leave), data({read, async erase() {
  await call(operations.deleteUser);
  await leave();
}}));
