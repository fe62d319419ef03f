// Who moderates: the operator who is signed in in this tab.

import {h, link} from '../../../kit/webapp/modules/dom.js';
import {client} from '../../../kit/webapp/modules/requests.js';
import {settings} from '../../../kit/webapp/modules/settings.js';
import {account, elsewhere} from '../../../kit/webapp/modules/signin.js';
import {state, stateOf} from '../../../kit/webapp/modules/states.js';
import {t} from '../../../kit/webapp/modules/texts.js';

export const operator = account(settings.signIn);

const away = elsewhere(settings.signIn.page);

let problem = null;

/** begun ends when it is clear whether someone has signed in. */
export const begun = (async () => {
  if (away?.same) location.replace(away.address);
  problem = await operator.finish();
})();

/** signedIn returns a view for those who are signed in. Others see how to sign in. */
export const signedIn = (view) => ({
  show: (context) => operator.signedIn() ? view.show(context) : signIn(),
});

function signIn() {
  if (away) return state('elsewhere', {actions: [link(away.address, {class: 'button primary'}, t('signin.there'))]});
  const begin = h('button', {type: 'button', class: 'primary', onclick: () => operator.begin()}, t('signin.begin'));
  const kind = problem ? (problem.kind === 'notBegun' ? 'notBegun' : 'notSignedIn') : 'signIn';
  const more = problem?.message && h('p', {class: 'hint', dir: 'auto'}, problem.message);
  problem = null;
  return state(kind, {more, actions: [begin]});
}

export const {call} = client({
  headers: async () => ({Authorization: `Bearer ${await operator.token()}`}),
  // forbidden: signed in, and no operator.
  kinds: {401: 'signedOut', 403: 'forbidden'},
});

/** refusedView is what a view shows that could not be read. */
export function refusedView(error, again) {
  if (error.name === 'AbortError') throw error;
  switch (error.kind) {
    case 'signedOut':
      operator.forget();
      return signIn();
    case 'forbidden':
      return state('forbidden', {text: t('state.forbidden.text', {name: operator.name()}), actions: [
        h('button', {type: 'button', class: 'primary', onclick: () => operator.leave()}, t('signin.leave')),
      ]});
  }
  return stateOf(error, again);
}
