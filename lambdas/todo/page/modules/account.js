// Who is signed in, the keys, and the language.

import {account, who} from '../../../kit/webapp/modules/account.js';
import {h, put} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import {choose, letters} from './keys.js';
import {leave, me} from './person.js';
import {changes} from './tasks.js';

export function show({reload, signal}) {
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
    h('section', null, h('h2', null, t('keys.title')), h('label', {class: 'keys'}, keys, t('keys.label')),
      h('p', {class: 'hint'}, t('keys.escape'))));
}
