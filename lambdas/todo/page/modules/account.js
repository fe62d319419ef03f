// Who is signed in, and the language.

import {foreign, h, heading, put} from '../../../kit/webapp/modules/dom.js';
import {language} from '../../../kit/webapp/modules/language.js';
import {t} from '../../../kit/webapp/modules/texts.js';
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
  return h('div', {class: 'settings'}, heading(t('account.title')),
    h('section', null, h('h2', null, t('account.who')), foreign('p', {class: 'foreign'}, me.name()),
      waits,
      h('p', {class: 'actions'}, h('button', {type: 'button', onclick: () => leave()}, t('signin.leave')))),
    language(reload));
}
