// Parts of forms.

import {h, put, say} from './dom.js';
import {draft, dropDraft, keepDraft} from './store.js';
import {t} from './texts.js';

/** problem returns a line, and a function that shows there what is wrong, or hides it. */
export function problem(id = 'problem') {
  const line = h('p', {class: 'problem', id, role: 'alert', hidden: true});
  return [line, (...content) => {
    line.hidden = !content[0];
    put(line, content);
  }];
}

/** choice lets people choose one of a few values, which have names; change gets the chosen one. */
export const choice = (name, title, values, chosen, change) => h('fieldset', {class: 'choice'},
  h('legend', {class: 'hidden'}, title), Object.entries(values).map(([value, text]) => h('label', null,
    h('input', {type: 'radio', name, value, checked: value === chosen, onchange: () => change(value)}),
    h('span', null, text))));

/** copying is a button that copies a text. */
export const copying = (text) => h('button', {type: 'button', onclick: () => navigator.clipboard.writeText(text)
  .then(() => say(t('copy.done')), () => say(t('copy.failed')))}, t('copy.do'));

/**
 * kept is a form whose texts stay on the device under a name until send(texts, key) has sent them. The key is of the
 * request: it stays until a text changes. done gets the answer. fields are attributes by id; one with rows has several
 * lines. values are the texts that the form begins with. said says of a problem what is wrong.
 */
export function kept(name, fields, {send, done, said, action, values = {}}) {
  const own = {key: crypto.randomUUID(), ...values, ...draft(name)};
  const [line, tell] = problem();
  return h('form', {onsubmit: async (event) => {
    event.preventDefault();
    try {
      const texts = Object.fromEntries(Object.keys(fields).map((id) => [id, own[id] ?? '']));
      const answer = await send(texts, own.key);
      dropDraft(name);
      await done(answer);
    } catch (error) {
      tell(said(error));
    }
  }}, Object.entries(fields).map(([id, attributes]) => [h('label', {for: id}, t(`field.${id}`)),
    h(attributes.rows ? 'textarea' : 'input', {id, dir: 'auto', required: true, value: own[id] ?? '',
      'aria-describedby': 'problem', ...attributes, oninput: ({currentTarget}) => {
        Object.assign(own, {[id]: currentTarget.value, key: crypto.randomUUID()});
        keepDraft(name, own);
      }})]), line, h('p', {class: 'actions'}, h('button', {type: 'submit', class: 'primary'}, action)));
}
