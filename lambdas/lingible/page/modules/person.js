// Who translates here: the person who is signed in in this tab. Others see examples.

import {h, put} from '../../../kit/webapp/modules/dom.js';
import {entrance} from '../../../kit/webapp/modules/entrance.js';
import {choice} from '../../../kit/webapp/modules/forms.js';
import {t, time} from '../../../kit/webapp/modules/texts.js';
import examples from './examples.json';
import {result} from './result.js';

export const {me, behind, call, own, leave} = await entrance({
  welcome() {
    const shown = h('section', {class: 'result', 'aria-live': 'polite', 'aria-label': t('result.title')});
    const show = (n) => put(shown, result(examples[n]));
    show(0);
    return [choice('example', t('examples.title'), {...examples.map((one) => one.original_text)}, '0', show), shown];
  },
  // premium: the tier does not have that.
  kinds: {BIZ_004: 'premium'},
});

/** said is what a person reads of a problem. */
export function said({kind, told, after, message}) {
  if (told?.code === 'BIZ_001') return t('said.used', {at: time(Date.now() + 1000 * after)});
  return kind === 'refused' ? message : t(`said.${kind}`);
}
