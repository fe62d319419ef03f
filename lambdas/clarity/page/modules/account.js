// Who is signed in, the language, and what is kept of the person.

import {account, data, who} from '../../../kit/webapp/modules/account.js';
import {all} from '../../../kit/webapp/modules/pages.js';
import * as operations from './operations.js';
import {call, leave, me} from './person.js';

const list = (operation, name) => all(async (nextToken) => {
  const page = await call(operation, {limit: 100, nextToken});
  return {items: page[name], next: page.nextToken};
});

export const show = ({reload}) => account(reload, who(me, leave), data({read: async () => ({
  attempts: await list(operations.listAttempts, 'attempts'), profiles: await list(operations.listProfiles, 'profiles'),
})}));
