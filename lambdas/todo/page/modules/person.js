// Who keeps tasks here: the person who is signed in in this tab.

import {h, heading} from '../../../kit/webapp/modules/dom.js';
import {entrance} from '../../../kit/webapp/modules/entrance.js';
import {kept} from '../../../kit/webapp/modules/forms.js';
import {read, remove, write} from '../../../kit/webapp/modules/store.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';

export const {me, behind, call, own, leave} = await entrance({
  headers: () => ({'X-Timezone': Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'}),
  // changed: the task has another version. busy: an earlier attempt is still under way, or there is such a user.
  kinds: {409: 'busy', 412: 'changed'},
});

/** signedIn returns a view for people who are signed in and have a user. */
export const signedIn = (view) => behind({
  async show(context) {
    if (!read(own('user'))) {
      if (!(await call(operations.readStats, {}, context)).is_user) return welcome(context);
      write(own('user'), true);
    }
    return view.show(context);
  },
});

/** forgetUser asks for name and address once more: the server knows no such user. */
export const forgetUser = () => remove(own('user'));

/** welcome asks someone new for what a user has. */
const welcome = ({reload}) => h('section', {'data-state': 'welcome'}, heading(t('welcome.title')),
  h('p', null, t('welcome.text')), user(operations.createUser, t('welcome.begin'), {
    name: me.name().split('@')[0], email: me.name().includes('@') ? me.name() : '',
  }, reload));

/** user is the form of what a user has. The operation sends it. */
export const user = (operation, action, values, done) => kept(own('about'), {
  name: {type: 'text', autocomplete: 'name', maxlength: 100},
  email: {type: 'email', autocomplete: 'email', maxlength: 254},
}, {
  action, values,
  async send({name, email}, key) {
    const headers = {'Idempotency-Key': key};
    await call(operation, {}, {headers, body: {name, email: email.trim()}});
    write(own('user'), true);
  },
  done, said,
});

/** said is what a person reads of a problem. */
export const said = ({kind, unknown, message}) => message && !unknown ? message : t(`said.${kind}`);
