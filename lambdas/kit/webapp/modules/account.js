// What a page has about a person: who has signed in, and what the platform keeps of them.

import {foreign, h, heading} from './dom.js';
import {language} from './language.js';
import {key} from './settings.js';
import {t} from './texts.js';

/** account is the view of sections and the language. reload shows it again. */
export const account = (reload, ...sections) =>
  h('div', {class: 'settings'}, heading(t('account.title')), sections, language(reload));

/** who is the section of the person who has signed in. leave signs them out. */
export const who = (me, leave, ...more) => h('section', null, h('h2', null, t('account.who')),
  foreign('p', {class: 'foreign'}, me.name()), more,
  h('p', {class: 'actions'}, h('button', {type: 'button', onclick: () => leave()}, t('signin.leave'))));

/**
 * question is a dialog that asks before something is done that cannot be taken back: its title, its text, what else it
 * says, and the name of the button that does it.
 */
export function question(name, {title, text, more, yes}, act) {
  const dialog = h('dialog', {'aria-labelledby': `${name}-title`},
    h('h2', {id: `${name}-title`}, title), h('p', null, text), more,
    h('p', {class: 'actions'},
      h('button', {type: 'button', onclick: () => dialog.close()}, t('action.cancel')),
      h('button', {type: 'button', class: 'danger', onclick: async ({currentTarget}) => {
        currentTarget.disabled = true;
        await act();
        currentTarget.disabled = false;
        dialog.close();
      }}, yes)));
  return dialog;
}

/**
 * data is the section of what is kept of a person: read returns it for a file, and erase, if the platform can, deletes
 * it. more stands in the question before it is deleted.
 */
export function data({read, erase = null, more = null}) {
  const said = h('p', {role: 'status'});
  const attempt = async (work, done) => {
    said.textContent = t('data.working');
    try {
      await work();
      said.textContent = done;
    } catch (error) {
      said.textContent = t(`said.${error.kind ?? 'server'}`);
    }
  };
  const save = async () => {
    const href = URL.createObjectURL(new Blob([JSON.stringify(await read(), null, 2)], {type: 'application/json'}));
    h('a', {href, download: `${key}.json`}).click();
    URL.revokeObjectURL(href);
  };
  const confirm = question('delete', {title: t('data.deleteTitle'), text: t('data.deleteText'), more,
    yes: t('data.deleteDo')}, () => attempt(erase, ''));
  return h('section', null, h('h2', null, t('data.title')), h('p', null, t('data.text')),
    h('p', {class: 'actions'},
      h('button', {type: 'button', onclick: () => attempt(save, t('data.saved'))}, t('data.save')),
      erase && h('button', {type: 'button', class: 'danger', onclick: () => confirm.showModal()}, t('data.delete'))),
    said, confirm);
}
