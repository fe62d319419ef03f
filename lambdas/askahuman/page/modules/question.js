// One question: answering it, and what comes of that.

import {add, foreign, h, heading, link, put, say} from '../../../kit/webapp/modules/dom.js';
import {settings} from '../../../kit/webapp/modules/settings.js';
import {state, stateOf} from '../../../kit/webapp/modules/states.js';
import {draft, dropDraft, elsewhere, keepDraft, read, write} from '../../../kit/webapp/modules/store.js';
import {t, time} from '../../../kit/webapp/modules/texts.js';
import {answered, answers, pass, takeUp, wanted} from './answers.js';
import * as api from './api.js';
import {badge, step} from './badges.js';
import {facts} from './feed.js';
import {prompt} from './prompt.js';
import {follow} from './standing.js';

export const longestAnswer = 5000;

/** undo is how long an answer can be taken back, in ms. */
const undo = 5000;

/** characters counts as the server does: one for each code point. */
export const characters = (text) => [...text].length;

export async function show({parts, signal, redraw, reload}) {
  const id = parts[0];
  const view = {id, signal, redraw};
  if (id === 'example') return form(example(), null, {...view, example: true});
  const own = draft(id);
  const mine = (event) => event.detail.entry?.id === id;
  answers.addEventListener('settled', (event) => mine(event) && redraw(after(event.detail, view)), {signal});
  answers.addEventListener('delayed', (event) => mine(event) && redraw(kept(view, event.detail.problem)), {signal});
  if (answers.find(id)) return kept(view);
  let question;
  try {
    question = await api.question(id, signal);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    // Without a network one can go on with what one has begun.
    if (error.unknown && own?.question) return form(own.question, own, view);
    return stateOf(error, reload, written(own?.answer));
  }
  if (!question.can_answer) {
    dropDraft(id);
    return state('answered');
  }
  return form(question, own, view);
}

/** example is a question that no agent asked, to try how one answers. */
const example = () => ({question_id: 'example', type: 'multiple_choice', prompt: t('example.prompt'),
  options: [t('example.first'), t('example.second')], audience: ['general']});

/** passed says that a question does not come again, and leads on. */
function passed(question, own, view) {
  const undo = h('button', {type: 'button', onclick: () => {
    takeUp(view.id);
    view.redraw(form(question, own, view));
  }}, t('action.undo'));
  return h('section', {class: 'state', 'data-state': 'passed'}, heading(t('state.passed.title')),
    h('p', null, t('state.passed.text')), onward(view.signal, undo));
}

function form(question, own, view) {
  const {id, redraw, signal} = view;
  const values = {
    answer: own?.answer ?? '', option: own?.option ?? null, confidence: own?.confidence ?? null,
    began: own?.began ?? Date.now(),
  };
  const choice = question.type === 'multiple_choice';
  const changed = () => {
    problem.hidden = true;
    element.querySelector('[aria-invalid]')?.removeAttribute('aria-invalid');
    if (!view.example) keepDraft(id, {...values, question});
  };

  const problem = h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: true});
  const control = choice ? options(question, values, changed) : text(values, changed, () => element.requestSubmit());
  const element = h('form', {class: 'answer', novalidate: true, onsubmit: submit}, control, confidence(values, changed),
    problem, left(signal),
    h('p', {class: 'actions'}, h('button', {type: 'submit', class: 'primary'}, t('question.send')),
      !view.example && h('button', {type: 'button', class: 'plain', onclick: () => {
        pass(id);
        redraw(passed(question, {...values}, view));
      }}, t('question.pass'))));

  function complain(message) {
    problem.hidden = false;
    problem.textContent = message;
    const field = element.querySelector('textarea, input');
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-describedby', 'problem');
    field.focus();
  }

  function submit(event) {
    event.preventDefault();
    const wrong = choice ? (values.option === null ? t('question.chooseOne') : '') : mistakeIn(values.answer);
    if (wrong) {
      complain(wrong);
      return;
    }
    if (view.example) {
      write('welcomed', true);
      redraw(h('section', {class: 'state', 'data-state': 'tried'}, heading(t('state.tried.title')),
        h('p', null, t('state.tried.text')), onward(signal)));
      return;
    }
    keepDraft(id, {...values, question});
    answers.keep({id, title: question.prompt.slice(0, 200), options: question.options, body: bodyOf(question, values)},
      undo);
    redraw(undoing(question, view));
  }

  const article = add(h('article', {class: 'question', 'data-question': id}),
    prompt(question.prompt),
    h('p', {class: 'facts'}, facts(question)),
    element,
    settings.reports && !view.example && reporting(id));
  // Another tab has the same question: what is written there is seen here.
  elsewhere((key) => {
    if (!article.isConnected) return;
    if (key === 'answered' && answered(id)) redraw(state('answered'));
    else if (key === `draft.${id}` && draft(id)) article.replaceWith(form(question, draft(id), view));
  }, signal);
  return article;
}

/** undoing is the view of an answer that can be taken back. To leave the view sends the answer. */
function undoing(question, {id, redraw, signal}) {
  signal.addEventListener('abort', () => answers.leave());
  const back = h('button', {type: 'button', onclick: () => {
    if (answers.takeBack(id)) redraw(form(question, draft(id), {id, redraw, signal}));
  }}, t('action.undo'));
  return h('section', {class: 'state', 'data-state': 'sending'}, heading(t('question.sending')),
    h('p', null, t('question.undo')),
    h('p', {class: 'actions'}, back, h('button', {type: 'button', class: 'primary', onclick: () => answers.deliver(id)},
      t('action.sendNow'))));
}

/** mayStill says how many more answers one may send until when, beside those that wait; nothing if they are many. */
function mayStill() {
  const limit = read('limit');
  if (!(limit?.until > Date.now()) || limit.left > 5) return '';
  const n = Math.max(0, limit.left - answers.waiting().length);
  return t(n > 0 ? 'question.left' : 'question.leftNone', {n, time: time(limit.until)});
}

/** left is what mayStill says, as long as the form is shown. */
function left(signal) {
  const hint = h('p', {class: 'hint', 'data-left': ''});
  const draw = () => {
    hint.textContent = mayStill();
    hint.hidden = !hint.textContent;
  };
  answers.addEventListener('change', draw, {signal});
  elsewhere((key) => key === 'limit' && draw(), signal);
  draw();
  return hint;
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
      id: 'answer', rows: '7', dir: 'auto', value: values.answer, 'aria-describedby': 'prompt count',
      autocomplete: 'off',
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
  return h('fieldset', {class: 'options'}, h('legend', null, t('question.choose')),
    (question.options ?? []).map((option, at) =>
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
  const none = h('button', {type: 'button', class: 'plain', hidden: values.confidence === null,
    onclick: () => choose(null)}, t('question.confidenceNone'));
  const one = (level) => h('label', {class: 'level'},
    h('input', {type: 'radio', name: 'confidence', value: String(level), checked: values.confidence === level,
      'aria-label': t(`question.confidence${level}`), onchange: () => choose(level)}),
    h('span', null, String(level)));
  const levels = h('div', {class: 'levels'}, h('div', {class: 'scale'}, [1, 2, 3, 4, 5].map(one),
    h('p', {class: 'ends', 'aria-hidden': 'true'}, h('span', null, t('question.unsure')),
      h('span', null, t('question.sure')))), none);
  const choose = (level) => {
    values.confidence = level;
    none.hidden = level === null;
    if (level === null) for (const input of levels.querySelectorAll('input')) input.checked = false;
    changed();
  };
  const n = settings.points?.confidence;
  return h('fieldset', {class: 'confidence'}, h('legend', null, t('question.confidence'), ' ',
    h('small', null, n ? t('question.optional', {n}) : t('question.optionalOnly'))), levels);
}

/** after is the view of what became of an answer. */
function after({entry, outcome}, view) {
  if (outcome.kind === 'sent') return thanks(outcome.receipt, entry.options, view.signal);
  if (outcome.kind === 'answered') return state('answered');
  return stateOf(outcome.problem, null, written(entry.body.answer));
}

/** kept is the view of an answer that waits on the device. It becomes another one when the answer has been decided. */
function kept({id}, problem = null) {
  const entry = answers.find(id);
  if (!entry) return state('answered');
  const again = () => answers.deliver(id);
  if (problem?.kind === 'limited') return stateOf(problem, again, h('p', null, t('state.kept.then')));
  const limit = read('limit');
  return state('kept', {
    text: limit?.left === 0 && limit.until > Date.now() ? t('question.leftNone', {time: time(limit.until)}) : undefined,
    more: written(entry.body.answer),
    actions: [h('button', {type: 'button', class: 'primary', onclick: again}, t('action.sendNow')),
      link('/', {class: 'button'}, t('action.home'))],
  });
}

/** written shows what someone had written, so that it is not lost with the question. */
const written = (text) => text && h('details', {class: 'written'}, h('summary', null, t('question.written')),
  foreign('p', {class: 'foreign'}, text));

/** thanks says what an answer has earned, and leads to the next question. */
function thanks(receipt, options, signal) {
  const earned = h('div', {class: 'earned'});
  if (receipt) {
    put(earned, h('p', {class: 'points'}, t('thanks.points', {n: receipt.points_earned})),
      receipt.new_badges.length > 0 && [h('h2', null, t('thanks.badges', {n: receipt.new_badges.length})),
        h('ul', {class: 'badges'}, receipt.new_badges.map(badge))]);
    if (receipt.answers) {
      add(earned, h('p', null, receipt.completed ? t('thanks.completed') : t('thanks.answers', {n: receipt.answers})));
    }
    if (receipt.option_shares) add(earned, shares(receipt.option_shares, options));
    if (receipt.next_badge) add(earned, h('h2', null, t('thanks.next_badge')),
      h('ul', {class: 'badges'}, step(receipt.next_badge)));
    say(t('thanks.said', {n: receipt.points_earned}));
  }
  const standing = h('p', {class: 'standing'}, receipt ? t('thanks.total', {n: receipt.total_points}) : '');
  follow(['stats'], ({stats}) => put(standing, t('thanks.total', {n: stats.total_points}), ' ',
    stats.streak_days > 0 && t('thanks.streak', {n: stats.streak_days})), signal, {lost: () => put(standing)})
    .catch(() => { /* The answer is sent; its thanks do not wait for more. */ });
  return h('section', {class: 'state thanks', 'data-state': 'thanks'}, heading(t('thanks.title')),
    h('p', null, t('thanks.text')), earned, standing, onward(signal));
}

/** shares says how many chose each option. */
const shares = (percents, options) => h('ul', {class: 'shares'}, percents.map((n, at) => h('li', null,
  foreign('span', {class: 'foreign'}, options?.[at] ?? String(at + 1)),
    h('progress', {max: '100', value: String(n), 'aria-hidden': 'true'}), h('span', null, t('thanks.share', {n})))));

/** onward leads to the next question, as soon as one is known, and to all. */
function onward(signal, ...others) {
  const actions = h('p', {class: 'actions'}, link('/', {class: 'button primary'}, t('action.home')), others);
  api.feed({limit: 10, signal}).then(({questions}) => {
    const [next] = wanted(questions);
    if (!next || signal.aborted) return;
    put(actions, link(`/q/${encodeURIComponent(next.question_id)}`, {class: 'button primary'}, t('thanks.next')),
      link('/', {class: 'button'}, t('action.home')), others);
  }).catch(() => { /* The list of all questions says what is wrong. */ });
  return actions;
}

function reporting(id) {
  const details = h('details', {class: 'report'}, h('summary', null, t('report.open')));
  details.addEventListener('toggle', async () => {
    if (!details.open || details.querySelector('form')) return;
    const {form} = await import('./report.js');
    details.append(form(() => ({question_id: id}), (reason) => t(`report.${reason}`), {done: () => pass(id)}));
  });
  return details;
}
