// Who is signed in, what the tier allows, and what is kept of them.

import {account, data, who} from '../../../kit/webapp/modules/account.js';
import {figure, h} from '../../../kit/webapp/modules/dom.js';
import {problem} from '../../../kit/webapp/modules/forms.js';
import {all} from '../../../kit/webapp/modules/pages.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';
import {call, leave, me, said} from './person.js';
import {list} from './words.js';

export async function show({reload, signal}) {
  const usage = await call(operations.readUsage, {}, {signal});
  const [line, wrong] = problem();
  const upgrade = () => call(operations.upgradeUser).then(reload).catch((error) => wrong(said(error)));
  return account(reload, who(me, leave),
    h('section', null, h('h2', null, t(`tier.${usage.tier}`)), h('dl', {class: 'figures'},
      figure(t('tier.translations'), usage.daily_limit), figure(t('tier.length'), usage.text_length),
      figure(t('tier.questions'), usage.quiz_limit || t('tier.any')),
      figure(t('tier.submissions'), usage.submission_limit)),
    usage.tier === 'free' && [h('p', null, t('premium.text')), line, h('p', {class: 'actions'},
      h('button', {type: 'button', onclick: upgrade}, t('premium.do')))]),
    data({read: async () => ({
      profile: await call(operations.readUser), usage,
      translations: usage.tier === 'premium' ? await all(list(operations.listTranslations, null, 'translations')) : [],
      submissions: await all(list(operations.listOwnSubmissions)), quizzes: await call(operations.readQuizHistory),
    }), async erase() {
      await call(operations.deleteUser, {}, {body: {confirmation: 'DELETE'}});
      await leave();
    }}));
}
