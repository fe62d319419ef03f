// Who moderates: the operator who is signed in in this tab.

import {h} from '../../../kit/webapp/modules/dom.js';
import {entrance} from '../../../kit/webapp/modules/entrance.js';
import {state} from '../../../kit/webapp/modules/states.js';
import {t} from '../../../kit/webapp/modules/texts.js';

export const {me: operator, behind, call, own, leave: signOut} = await entrance({
  refused: ({kind}) => kind === 'forbidden' ? forbidden() : null,
  // forbidden: signed in, and no operator. decided: another operator has decided since this one looked.
  kinds: {403: 'forbidden', DECIDED_MEANWHILE: 'decided'},
});

const forbidden = () => state('forbidden', {text: t('state.forbidden.text', {name: operator.name()}), actions: [
  h('button', {type: 'button', class: 'primary', onclick: () => signOut()}, t('signin.leave')),
]});
