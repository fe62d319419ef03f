// One question: answering it, and what comes of that.

import * as api from './api.js';
import {add, foreign, h, heading, link, put, say} from './dom.js';
import {facts} from './feed.js';
import * as outbox from './outbox.js';
import {prompt} from './prompt.js';
import {settings} from './settings-of-stack.js';
import {state, stateOf, written} from './states.js';
import {draft, dropDraft, keepDraft, pass, takeUp} from './store.js';
import {has, t} from './texts.js';

export const longestAnswer = 5000;

/** characters counts as the server does: one for each code point. */
export const characters = (text) => [...text].length;

export async function show({parts, signal, redraw, reload}) {
  const id = parts[0];
  const own = draft(id);
  if (outbox.find(id)) return kept(id, redraw, signal);
  let question;
  try {
    question = await api.question(id, signal);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    // Without a network one can go on with what one has begun.
    if (error.unknown && own?.question) return form(own.question, own, redraw, signal);
    return stateOf(error, reload, written(own?.answer));
  }
  if (!question.can_answer) {
    dropDraft(id);
    return state('answered');
  }
  return form(question, own, redraw, signal);
}

/** passed says that a question does not come again, and leads on. */
function passed(question, own, redraw, signal) {
  const undo = h('button', {type: 'button', onclick: () => {
    takeUp(question.question_id);
    redraw(form(question, own, redraw, signal));
  }}, t('action.undo'));
  return h('section', {class: 'state', 'data-state': 'passed'}, heading(t('state.passed.title')), h('p', null, t('state.passed.text')), onward(signal, undo));
}

function form(question, own, redraw, signal) {
  const id = question.question_id;
  const values = {answer: own?.answer ?? '', option: own?.option ?? null, confidence: own?.confidence ?? null, began: own?.began ?? Date.now()};
  const choice = question.type === 'multiple_choice';
  const changed = () => {
    problem.hidden = true;
    element.querySelector('[aria-invalid]')?.removeAttribute('aria-invalid');
    keepDraft(id, {...values, question});
  };

  const problem = h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: true});
  const button = h('button', {type: 'submit', class: 'primary'}, t('question.send'));
  const control = choice ? options(question, values, changed) : text(values, changed, () => element.requestSubmit());
  const element = h('form', {class: 'answer', novalidate: true, onsubmit: submit}, control, confidence(values, changed), problem, h('p', {class: 'actions'}, button,
    h('button', {type: 'button', class: 'plain', onclick: () => {
      pass(id);
      redraw(passed(question, {...values}, redraw, signal));
    }}, t('question.pass'))));

  function complain(message) {
    problem.hidden = false;
    problem.textContent = message;
    const field = element.querySelector('textarea, input');
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-describedby', 'problem');
    field.focus();
  }

  async function submit(event) {
    event.preventDefault();
    if (button.disabled) return;
    const wrong = choice ? (values.option === null ? t('question.chooseOne') : '') : mistakeIn(values.answer);
    if (wrong) {
      complain(wrong);
      return;
    }
    problem.hidden = true;
    button.disabled = true;
    button.textContent = t('question.sending');
    outbox.keep(bodyOf(question, values), question.prompt.slice(0, 200));
    const outcome = await deliver(id);
    if (signal.aborted) return;
    redraw(after(outcome, values, redraw, signal, id));
  }

  return add(h('article', {class: 'question', 'data-question': id}),
    prompt(question.prompt),
    h('p', {class: 'facts'}, facts(question)),
    element,
    settings.reports && reporting(id));
}

/** mistakeIn says what is wrong with a text, or nothing. */
export function mistakeIn(text) {
  if (text.trim() === '') return t('question.writeSomething');
  const n = characters(text);
  return n > longestAnswer ? t('question.tooLong', {n, most: longestAnswer}) : '';
}

/** bodyOf is the answer as the API takes it. */
export function bodyOf(question, values, now = Date.now()) {
  const body = {question_id: question.question_id, response_time_ms: Math.max(0, now - values.began)};
  if (question.type === 'multiple_choice') body.selected_option = values.option;
  else body.answer = values.answer;
  if (values.confidence) body.confidence = values.confidence;
  return body;
}

function text(values, changed, send) {
  const count = h('span', {class: 'count', id: 'count'});
  const recount = () => {
    const n = characters(values.answer);
    count.textContent = t('question.count', {n, most: longestAnswer});
    count.classList.toggle('bad', n > longestAnswer);
  };
  recount();
  return h('div', {class: 'field'},
    h('label', {for: 'answer'}, t('question.answer')),
    h('textarea', {
      id: 'answer', rows: '7', dir: 'auto', value: values.answer, 'aria-describedby': 'prompt count', autocomplete: 'off',
      oninput: (event) => {
        values.answer = event.currentTarget.value;
        recount();
        changed();
      },
      onkeydown: (event) => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(); },
    }),
    count);
}

function options(question, values, changed) {
  return h('fieldset', {class: 'options'}, h('legend', null, t('question.choose')), (question.options ?? []).map((option, at) =>
    h('label', {class: 'option'},
      h('input', {
        type: 'radio', name: 'option', value: String(at), checked: values.option === at,
        onchange: () => {
          values.option = at;
          changed();
        },
      }),
      foreign('span', {class: 'foreign'}, option))));
}

// Nothing is chosen at first. Who has chosen can take it back.
function confidence(values, changed) {
  const none = h('button', {type: 'button', class: 'plain', hidden: values.confidence === null, onclick: () => choose(null)}, t('question.confidenceNone'));
  const one = (level) => h('label', {class: 'level'},
    h('input', {type: 'radio', name: 'confidence', value: String(level), checked: values.confidence === level, 'aria-label': t(`question.confidence${level}`), onchange: () => choose(level)}),
    h('span', null, String(level)));
  const levels = h('div', {class: 'levels'}, h('span', {'aria-hidden': 'true'}, t('question.unsure')), [1, 2, 3, 4, 5].map(one), h('span', {'aria-hidden': 'true'}, t('question.sure')), none);
  const choose = (level) => {
    values.confidence = level;
    none.hidden = level === null;
    if (level === null) for (const input of levels.querySelectorAll('input')) input.checked = false;
    changed();
  };
  const n = settings.points?.confidence;
  return h('fieldset', {class: 'confidence'}, h('legend', null, t('question.confidence'), ' ', h('small', null, n ? t('question.optional', {n}) : t('question.optionalOnly'))), levels);
}

const pauses = [500, 1500];

/** deliver sends an answer, and tries again at once where the server fails for a moment. */
async function deliver(id) {
  for (let tries = 0; ; tries++) {
    const outcome = await outbox.send(id);
    if (outcome.kind || outcome.problem?.kind !== 'server' || tries === pauses.length) return outcome;
    await new Promise((done) => setTimeout(done, pauses[tries]));
  }
}

/** after is the view of what became of an answer. */
function after(outcome, values, redraw, signal, id) {
  if (outcome.kind === 'sent') return thanks(outcome.receipt, signal);
  if (outcome.kind === 'answered') return state('answered');
  if (outcome.kind) return stateOf(outcome.problem, null, written(values.answer));
  return kept(id, redraw, signal, outcome.problem);
}

/** kept is the view of an answer that waits on the device. It becomes another one when the answer has been decided. */
function kept(id, redraw, signal, problem = null) {
  const entry = outbox.find(id);
  if (!entry) return state('answered');
  const again = async () => {
    const outcome = await deliver(id);
    if (!signal.aborted && !outcome.kind) redraw(kept(id, redraw, signal, outcome.problem));
  };
  outbox.events.addEventListener('settled', (event) => {
    if (!signal.aborted && event.detail.entry.body.question_id === id) redraw(after(event.detail.outcome, event.detail.entry.body, redraw, signal, id));
  }, {signal, once: true});
  if (problem?.kind === 'limited') return stateOf(problem, again, h('p', null, t('state.kept.text')));
  if (problem) outbox.flush();
  return state('kept', {
    more: written(entry.body.answer),
    actions: [h('button', {type: 'button', class: 'primary', onclick: again}, t('action.sendNow')), link('/', {class: 'button'}, t('action.questions'))],
  });
}

/** thanks says what an answer has earned, and leads to the next question. */
function thanks(receipt, signal) {
  const earned = h('div', {class: 'earned'});
  if (receipt) {
    put(earned, h('p', {class: 'points'}, t('thanks.points', {n: receipt.points_earned})),
      receipt.new_badges.length > 0 && [h('h2', null, t('thanks.badges', {n: receipt.new_badges.length})), h('ul', {class: 'badges'}, receipt.new_badges.map(badge))]);
    say(t('thanks.said', {n: receipt.points_earned}));
  }
  const standing = h('p', {class: 'standing'}, receipt ? t('thanks.total', {n: receipt.total_points}) : '');
  api.stats(signal).then((stats) => {
    put(standing, t('thanks.total', {n: stats.total_points}), ' ', stats.streak_days > 0 && t('thanks.streak', {n: stats.streak_days}));
  }).catch(() => { /* The answer is sent; its thanks do not wait for more. */ });
  return h('section', {class: 'state thanks', 'data-state': 'thanks'}, heading(t('thanks.title')), h('p', null, t('thanks.text')), earned, standing, onward(signal));
}

/** onward leads to the next question, as soon as one is known, and to all. */
function onward(signal, ...others) {
  const actions = h('p', {class: 'actions'}, link('/', {class: 'button primary'}, t('action.questions')), others);
  api.feed({limit: 10, signal}).then(({questions}) => {
    const [next] = outbox.wanted(questions);
    if (next && !signal.aborted) put(actions, link(`/q/${encodeURIComponent(next.question_id)}`, {class: 'button primary'}, t('thanks.next')), link('/', {class: 'button'}, t('action.questions')), others);
  }).catch(() => { /* The list of all questions says what is wrong. */ });
  return actions;
}

/** badge is one that was earned. */
export const badge = ({id, name}) => h('li', {class: 'badge'}, h('strong', null, has(`badge.${id}`) ? t(`badge.${id}`) : name), has(`badge.${id}.how`) && h('span', null, t(`badge.${id}.how`)));

function reporting(id) {
  const details = h('details', {class: 'report'}, h('summary', null, t('report.open')));
  details.addEventListener('toggle', async () => {
    if (!details.open || details.querySelector('form')) return;
    const {form} = await import('./report.js');
    details.append(form(id));
  });
  return details;
}
