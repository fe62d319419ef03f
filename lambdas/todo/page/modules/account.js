// Who is signed in, what is kept of them, the keys, and the language.

import {account, data, who} from '../../../kit/webapp/modules/account.js';
import {tell} from '../../../kit/webapp/modules/app.js';
import {h, put} from '../../../kit/webapp/modules/dom.js';
import {all} from '../../../kit/webapp/modules/pages.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import {choose, letters} from './keys.js';
import * as operations from './operations.js';
import {call, forgetUser, leave, me, user} from './person.js';
import {changes} from './tasks.js';

/** read returns the user and all tasks. */
const read = async () => ({user: await call(operations.readUser), tasks: await all(async (cursor) => {
  const {tasks, next_cursor: next} = await call(operations.listTasks, {limit: 100, cursor});
  return {items: tasks, next};
})});

async function erase() {
  try {
    await call(operations.deleteUser, {}, {headers: {'Idempotency-Key': crypto.randomUUID()}});
  } catch (error) {
    if (error.kind !== 'gone') throw error;
  }
  await leave();
}

export async function show({reload, signal}) {
  let known = null;
  try {
    known = await call(operations.readUser, {}, {signal});
  } catch (error) {
    // People sign out without a network, too.
    if (error.kind === 'gone') {
      forgetUser();
      return reload();
    }
    if (!error.unknown) throw error;
  }
  const waits = h('p', {class: 'hint'});
  const draw = () => {
    const n = changes.waiting().length;
    put(waits, n > 0 ? t('account.waiting', {n}) : t('account.forgets'));
  };
  changes.addEventListener('change', draw, {signal});
  draw();
  const keys = h('input', {type: 'checkbox', checked: letters(), onchange: () => choose(keys.checked)});
  // This device forgets their tasks, but for changes that wait to be sent.
  return account(reload, who(me, () => leave('outbox', 'conflicts'), waits),
    known && h('section', null, h('h2', null, t('account.about')), user(operations.replaceUser, t('edit.save'),
      {name: known.name, email: known.email}, () => reload().then(() => tell(t('account.saved'))))),
    data({read, erase}),
    h('section', null, h('h2', null, t('keys.title')), h('label', {class: 'keys'}, keys, t('keys.label')),
      h('p', {class: 'hint'}, t('keys.escape'))));
}
