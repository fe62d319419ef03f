// Who keeps tasks here: the person who is signed in in this tab.

import {h, heading} from '../../../kit/webapp/modules/dom.js';
import {entrance} from '../../../kit/webapp/modules/entrance.js';
import {read, remove, write} from '../../../kit/webapp/modules/store.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';

export const {me, behind, call, own, leave} = await entrance({
  refused: (error, context) => error.kind === 'gone' && !read(own('user')) ? welcome(context) : null,
  headers: () => ({'X-Timezone': Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'}),
  // changed: the task has another version. busy: an earlier attempt is still under way, or there is such a user.
  kinds: {409: 'busy', 412: 'changed'},
});

/** signedIn returns a view for people who are signed in and have a user. */
export const signedIn = (view) => behind({
  async show(context) {
    if (!read(own('user'))) write(own('user'), await call(operations.readUser, {}, context));
    return view.show(context);
  },
});

/** forgetUser asks for name and address once more: the server knows no such user. */
export const forgetUser = () => remove(own('user'));

/** welcome asks someone new for what a user has. */
function welcome({reload}) {
  const field = (id, type, value, most) => h('input', {id, type, value, autocomplete: id, required: true, dir: 'auto',
    maxlength: most, 'aria-describedby': 'problem'});
  const name = field('name', 'text', me.name().split('@')[0], 100);
  const email = field('email', 'email', me.name().includes('@') ? me.name() : '', 254);
  const wrong = h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: true});
  return h('form', {'data-state': 'welcome', onsubmit: async (event) => {
    event.preventDefault();
    try {
      write(own('user'), await call(operations.createUser, {}, {
        headers: {'Idempotency-Key': crypto.randomUUID()}, body: {name: name.value, email: email.value.trim()}}));
      await reload();
    } catch (error) {
      wrong.textContent = error.unknown ? t(`said.${error.kind}`) : error.message;
      wrong.hidden = false;
      email.focus();
    }
  }}, heading(t('welcome.title')), h('p', null, t('welcome.text')),
  h('label', {for: 'name'}, t('welcome.name')), name, h('label', {for: 'email'}, t('welcome.email')), email, wrong,
  h('p', {class: 'actions'}, h('button', {type: 'submit', class: 'primary'}, t('welcome.begin'))));
}
