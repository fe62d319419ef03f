// Buttons that change something, and say what came of it.

import {h, put, say} from '../../../kit/webapp/modules/dom.js';
import {has, t} from '../../../kit/webapp/modules/texts.js';

/**
 * doing is a button for a request. done is called when it was carried out. Where it was not, the reason stands beside
 * the button, and one can try again.
 */
export function doing(label, request, done, attributes = {}) {
  const why = h('span', {class: 'problem', hidden: true});
  const button = h('button', {type: 'button', ...attributes, onclick: async () => {
    button.disabled = true;
    why.hidden = true;
    try {
      done(await request());
    } catch (error) {
      put(why, has(`said.${error.kind}`) ? t(`said.${error.kind}`) : t('said.server'));
      why.hidden = false;
      say(why.textContent);
    }
    button.disabled = false;
    // A disabled button loses the focus.
    if (button.isConnected && document.activeElement === document.body) button.focus();
  }}, label);
  return [button, why];
}
