// Views for people who have signed in, and what others see instead.

import {frame} from './app.js';
import {h, link} from './dom.js';
import {client} from './requests.js';
import {settings} from './settings.js';
import {account, elsewhere} from './signin.js';
import {state, stateOf} from './states.js';
import {keys, remove} from './store.js';
import {t} from './texts.js';

/**
 * entrance returns {me, behind, call, own, leave} when it is clear whether someone has signed in in this tab: their
 * account; a function that returns a view for those who have; client's call with their token; a function that names
 * what this device keeps of them; and one that signs them out. The page has the settings of webapp.SignIn, and the
 * texts of state.signIn. welcome may return what others see there. refused may return what a view shows that could not
 * be read, instead of the problem's state. headers and kinds are those of client, besides those of the token.
 */
export async function entrance({welcome = () => null, refused = () => null, headers = () => ({}), kinds = {}} = {}) {
  const me = account(settings.signIn);
  const away = elsewhere(settings.signIn.page);
  if (away?.same) location.replace(away.address);
  let problem = await me.finish();

  function signIn() {
    // Nothing around the view is of a person any more.
    frame();
    if (away) return state('elsewhere', {actions: [link(away.address, {class: 'button primary'}, t('signin.there'))]});
    const kind = problem ? (problem.kind === 'notBegun' ? 'notBegun' : 'notSignedIn') : 'signIn';
    const more = problem ? problem.message && h('p', {class: 'hint', dir: 'auto'}, problem.message) : welcome();
    problem = null;
    const begin = h('button', {type: 'button', class: 'primary', onclick: () => me.begin()}, t('signin.begin'));
    return state(kind, {more, actions: [begin]});
  }

  const behind = (view) => ({
    async show(context) {
      if (!me.signedIn()) return signIn();
      try {
        return await view.show(context);
      } catch (error) {
        if (error.name === 'AbortError') throw error;
        if (error.kind !== 'signedOut') return refused(error, context) ?? stateOf(error, context.reload);
        me.forget();
        return signIn();
      }
    },
  });

  const {call} = client({
    headers: async () => ({Authorization: `Bearer ${await me.token()}`, ...headers()}),
    kinds: {401: 'signedOut', ...kinds},
  });

  /** own is the name of what this device keeps of the person: no one else at this device gets it. */
  const own = (name) => `${name}.${me.name()}`;

  /** leave signs the person out. This device forgets what it keeps of them, but for what has these names. */
  function leave(...kept) {
    for (const key of keys()) if (key.endsWith(own('')) && !kept.map(own).includes(key)) remove(key);
    return me.leave();
  }

  return {me, behind, call, own, leave};
}
