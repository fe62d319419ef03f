// Views for people who have signed in, and what others see instead.

import {frame} from './app.js';
import {h, link} from './dom.js';
import {account, elsewhere} from './signin.js';
import {state, stateOf} from './states.js';
import {t} from './texts.js';

/**
 * entrance returns {me, behind} when it is clear whether someone has signed in: their account, and a function that
 * returns a view for those who have. given are the settings that webapp.SignIn has. The page has the texts of
 * state.signIn. refused may return what a view shows that could not be read, instead of the problem's state.
 */
export async function entrance(given, refused = () => null) {
  const me = account(given);
  const away = elsewhere(given.page);
  if (away?.same) location.replace(away.address);
  let problem = await me.finish();

  function signIn() {
    // Nothing around the view is of a person any more.
    frame();
    if (away) return state('elsewhere', {actions: [link(away.address, {class: 'button primary'}, t('signin.there'))]});
    const kind = problem ? (problem.kind === 'notBegun' ? 'notBegun' : 'notSignedIn') : 'signIn';
    const more = problem?.message && h('p', {class: 'hint', dir: 'auto'}, problem.message);
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
  return {me, behind};
}
