// Words for the lexicon: those that are open to votes, and one's own.

import {foreign, h, heading, link, put, say} from '../../../kit/webapp/modules/dom.js';
import {kept} from '../../../kit/webapp/modules/forms.js';
import {pages} from '../../../kit/webapp/modules/pages.js';
import {read, write} from '../../../kit/webapp/modules/store.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';
import {call, own, said} from './person.js';

const fields = {slang_term: {type: 'text', maxlength: 100}, meaning: {rows: 2, maxlength: 500},
  example_usage: {rows: 2, maxlength: 500}};

/** list reads a page of submissions, or of what else a list has. */
export const list = (operation, signal, name = 'submissions') => async (cursor) => {
  const {[name]: items, next_cursor: next} = await call(operation, {cursor, limit: 20}, {signal});
  return {items, next};
};

export async function show({signal, reload}) {
  const {tier} = await call(operations.readUsage, {}, {signal});
  const ids = new Set();
  const mine = await pages(list(operations.listOwnSubmissions, signal), (one) => {
    ids.add(one.submission_id);
    const reasons = one.llm_validation_result?.reasons ?? [];
    return card(one,
      h('p', {class: 'facts'}, h('strong', null, t(`status.${one.status}`)), t('votes', {n: one.upvotes})),
      reasons.length > 0 && h('ul', {class: 'hint', lang: 'en'}, reasons.map((reason) => h('li', null, reason))));
  }, {label: t('mine.title'), empty: t('mine.empty')});
  const open = await pages(list(operations.listOpenSubmissions, signal), (one) => card(one, voting(one, ids)),
    {label: t('open.title'), empty: t('open.empty')});
  return h('div', {class: 'words'}, heading(t('words.title')), h('p', {class: 'lead'}, t('words.text')),
    h('section', null, h('h2', null, t('open.title')), open),
    h('section', null, h('h2', null, t('mine.title')), mine),
    h('section', null, h('h2', null, t('propose.title')), tier !== 'premium'
      ? h('p', null, t('propose.premium'), ' ', link('/account', null, t('premium.look')))
      : kept(own('word'), fields, {said, action: t('propose.do'),
        send: (body, key) => call(operations.submitTerm, {}, {body, headers: {'Idempotency-Key': key}}),
        done: ({slang_term: term}) => reload().then(() => say(t('propose.done', {term})))})));
}

const card = (one, ...more) => h('li', {class: 'card word'}, h('div', {lang: 'en'},
  foreign('strong', {class: 'foreign'}, one.slang_term), foreign('p', {class: 'foreign'}, one.meaning),
  foreign('p', {class: 'foreign hint'}, one.example_usage)), more);

/** voting counts the votes for a submission, and takes one. */
function voting({submission_id: id, upvotes, slang_term: term}, mine) {
  const votes = h('span', {class: 'hint'}, t('votes', {n: upvotes}));
  const named = (key) => [t(key), h('span', {class: 'hidden'}, `: ${term}`)];
  const why = mine.has(id) ? 'vote.own' : read(own('votes'), []).includes(id) && 'vote.done';
  const button = h('button', {type: 'button', disabled: Boolean(why), onclick: async () => {
    button.disabled = true;
    try {
      const vote = await call(operations.voteForSubmission, {submission_id: id});
      put(votes, t('votes', {n: vote.upvotes}));
      say(t(vote.approved ? 'vote.approved' : 'vote.done'));
    } catch (error) {
      say(said(error));
      // A vote that arrived, though its answer was lost, is refused the second time.
      button.disabled = error.status === 409;
      return;
    }
    write(own('votes'), [...read(own('votes'), []), id].slice(-500));
    put(button, named('vote.done'));
  }}, named(why || 'vote.do'));
  return h('p', {class: 'voting'}, button, votes);
}
