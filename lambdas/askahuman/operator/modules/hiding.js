// Hiding can be taken back for some seconds: until then it waits on this device, and a strip stands in the place of
// what is hidden.

import {go, tell} from '../../../kit/webapp/modules/app.js';
import {h, put, say} from '../../../kit/webapp/modules/dom.js';
import {Outbox} from '../../../kit/webapp/modules/outbox.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as api from './api.js';
import {reason} from './doing.js';
import {beside} from './keys.js';
import {operator, own, signOut} from './operator.js';

const undo = 5_000;

const waiting = new Outbox({
  key: own('hiding'),
  send: ({body}) => body.agent ? api.hideAll(body.agent, body.version) : api.hide(body, true),
  // Hidden already, by an attempt whose answer did not come or by another operator.
  arrived: ({kind, told}) => kind === 'decided' && told.decision.decision === 'hidden',
});

// The strips of the view that is shown, by the ids of their entries.
const strips = new Map();

waiting.addEventListener('settled', ({detail: {entry: {id}, outcome}}) => {
  const strip = strips.get(id);
  strips.delete(id);
  if (strip?.item.isConnected) strip.settle(outcome);
  else if (outcome.kind !== 'sent') tell(reason(outcome.problem));
});
waiting.addEventListener('delayed', ({detail: {entry, problem}}) => {
  if (problem.kind === 'signedOut') {
    operator.forget();
    go(location.pathname + location.search);
  } else if (entry) strips.get(entry.id)?.delay(problem);
});

/** start sends what an earlier visit has left. */
export const start = () => waiting.start();

/** leave sends what can still be taken back, and signs out. What cannot be sent waits for the next time. */
export async function leave() {
  await Promise.all(waiting.waiting().map(({id}) => waiting.deliver(id)));
  await signOut(...waiting.waiting().length > 0 ? ['hiding'] : []);
}

/**
 * hiding is a button that hides what an item shows, and the line that says why it could not. id names what is hidden,
 * and of says it: {question_id, response_id, version}, or {agent, version} for all questions of an agent. said is what
 * the strip says. done is called once it is hidden, with whether the focus was in the item.
 */
export function hiding(item, {label, id, of, said, done}) {
  const why = h('span', {class: 'problem', hidden: true});
  const focused = () => item.contains(document.activeElement);

  /** cover puts the strip in the place of what the item has, and returns its button. */
  function cover() {
    const content = [...item.childNodes];
    const text = h('span', null, said);
    const uncover = (told, here = focused()) => {
      strips.delete(id);
      put(item, content);
      if (here) item.querySelector('[data-item]').focus();
      say(told);
    };
    const back = h('button', {type: 'button', onclick: () => {
      if (waiting.takeBack(id)) uncover(t('undo.said'), true);
    }}, t('action.undo'));
    put(item, h('p', {class: 'undo'}, text, back));
    strips.set(id, {
      item,
      delay(problem) {
        back.hidden = true;
        say(put(text, t('undo.later'), ' ', reason(problem)).textContent);
      },
      settle({kind, problem}) {
        if (kind === 'sent') {
          done(focused());
          return;
        }
        why.hidden = false;
        uncover(put(why, reason(problem)).textContent);
      },
    });
    return back;
  }

  // The item has no content yet.
  if (waiting.find(id)) queueMicrotask(cover);
  return [h('button', {type: 'button', class: 'danger', onclick: () => {
    why.hidden = true;
    // This device keeps nothing of what strangers wrote.
    const {agent, question_id, response_id, version} = of;
    waiting.keep({id, body: {agent, question_id, response_id, version}}, undo);
    const back = cover();
    if (!beside(item)) back.focus();
    say(`${said} ${t('action.undo')}`);
  }}, label), why];
}
