// Buttons that change something, and say what came of it.

import {go} from '../../../kit/webapp/modules/app.js';
import {h, put, say} from '../../../kit/webapp/modules/dom.js';
import {ago, has, t} from '../../../kit/webapp/modules/texts.js';
import {operator} from './operator.js';

/**
 * doing is a button for a request. done is called when it was carried out. Where it was not, the reason stands beside
 * the button, and one can try again. Who is not signed in any more is asked to sign in.
 */
export function doing(label, request, done, attributes = {}) {
  const why = h('span', {class: 'problem', hidden: true});
  const button = h('button', {type: 'button', ...attributes, onclick: async () => {
    button.disabled = true;
    why.hidden = true;
    try {
      done(await request());
    } catch (error) {
      if (error.kind === 'signedOut') {
        operator.forget();
        go(location.pathname + location.search);
        return;
      }
      put(why, reason(error));
      why.hidden = false;
      say(why.textContent);
    }
    button.disabled = false;
    // A disabled button loses the focus.
    if (button.isConnected && document.activeElement === document.body) button.focus();
  }}, label);
  return [button, why];
}

/** reason says why a request was not carried out. */
export function reason({kind, told}) {
  if (kind !== 'decided') return has(`said.${kind}`) ? t(`said.${kind}`) : t('said.server');
  const {decided_by: name, decided_at: at, decision} = told.decision;
  return t('said.decided', {name, ago: ago(at), what: t(`decided.${decision}`)});
}
