// Badges, earned and next.

import {h} from '../../../kit/webapp/modules/dom.js';
import {date, has, t} from '../../../kit/webapp/modules/texts.js';

const title = ({id, name}) => h('strong', null, has(`badge.${id}`) ? t(`badge.${id}`) : name);

const how = ({id}) => has(`badge.${id}.how`) && h('span', null, t(`badge.${id}.how`));

/** badge is one that was earned. */
export const badge = (one) => h('li', {class: 'badge'}, title(one), how(one), one.earned_at &&
  h('span', {class: 'when'}, t('me.earned', {date: date(one.earned_at)})));

/** step is one that is not earned yet, with how far one has come. */
export const step = (one) => h('li', {class: 'badge open'}, title(one), how(one), one.need > 1 && [
  h('progress', {max: String(one.need), value: String(one.have), 'aria-hidden': 'true'}),
    h('span', {class: 'when'}, t('me.step', {have: one.have, need: one.need}))]);
