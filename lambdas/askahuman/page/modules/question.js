// One question: answering it, and what comes of that.

import {go} from '../../../kit/webapp/modules/app.js';
import {add, foreign, h, heading, link, put, say} from '../../../kit/webapp/modules/dom.js';
import {Problem} from '../../../kit/webapp/modules/requests.js';
import {settings} from '../../../kit/webapp/modules/settings.js';
import {state, stateOf} from '../../../kit/webapp/modules/states.js';
import {draft, dropDraft, elsewhere, keepDraft, read, write} from '../../../kit/webapp/modules/store.js';
import {t, time} from '../../../kit/webapp/modules/texts.js';
import * as ahead from './ahead.js';
import {answered, answers, pass, takeUp} from './answers.js';
import * as api from './api.js';
import {facts} from './feed.js';
import {prompt} from './prompt.js';
import {earned, said, send} from './sent.js';
import {follow} from './standing.js';

export const longestAnswer = 5000;

/** pause is how long after a look whether a question still takes answers the next one comes, while someone writes. */
const pause = 12_000;

/** late is how long after the end of a question an answer still earns its points, and soon is too short to send one. */
const late = 60_000, soon = 5_000;

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
  const waiting = answers.find(id);
  if (waiting) return waiting.until > Date.now() ? underWay(view) : kept(view);
  const known = ahead.find(id);
  if (known) return form(known, own, view, {look: true});
  let question;
  try {
    question = await api.question(id, signal);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    // Without a network one can go on with what one has begun.
    if (error.unknown && own?.question) return form(own.question, own, view);
    return over(error, view, own?.answer, reload);
  }
  if (!question.can_answer) {
    dropDraft(id);
    return ending('answered', view);
  }
  return form(question, own, view);
}

/** ending is the view of a question that is done with, and leads on to the next one. */
const ending = (kind, {id, signal}, {title = t(`state.${kind}.title`), text = t(`state.${kind}.text`), more = null,
  actions = null} = {}) => h('section', {class: 'state', 'data-state': kind}, heading(title), h('p', null, text), more,
  onward(id, signal, actions));

/** done are the kinds of Problem after which a question takes no answer any more. */
const done = ['closed', 'gone', 'answered'];

/** over is the view of a problem that a question has, with what someone had written. */
const over = (problem, view, text, again = null) => done.includes(problem.kind) ?
  ending(problem.kind, view, {more: written(text)}) : stateOf(problem, again, written(text));

/** example is a question that no agent asked, to try how one answers. */
const example = () => ({question_id: 'example', type: 'multiple_choice', prompt: t('example.prompt'),
  options: [t('example.first'), t('example.second')], audience: ['general']});

/** passed says that a question does not come again, and leads on. */
function passed(question, own, view) {
  const undo = h('button', {type: 'button', onclick: () => {
    takeUp(view.id);
    view.redraw(form(question, own, view));
  }}, t('action.undo'));
  return ending('passed', view, {actions: undo});
}

/** form is a question with what answers it. With look it may have ended since it was read. */
function form(question, own, view, {look = false} = {}) {
  const {id, redraw, signal} = view;
  const values = {
    answer: own?.answer ?? '', option: own?.option ?? null, confidence: own?.confidence ?? null,
    began: own?.began ?? Date.now(),
  };
  let begun = null;
  const choice = question.type === 'multiple_choice';
  const changed = () => {
    problem.hidden = true;
    element.querySelector('[aria-invalid]')?.removeAttribute('aria-invalid');
    if (view.example) return;
    keepDraft(id, {...values, question});
    begun ??= ahead.look(id);
    watching.soon();
  };

  const closing = h('p', {class: 'problem', role: 'alert', hidden: true});
  const problem = h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: true});
  const control = choice ? options(question, values, changed) : text(values, changed, () => element.requestSubmit());
  const element = h('form', {class: 'answer', novalidate: true, onsubmit: submit}, control, confidence(values, changed),
    closing, problem, left(signal),
    h('p', {class: 'actions'}, h('button', {type: 'submit', class: 'primary'}, t('question.send')),
      !view.example && h('button', {type: 'button', class: 'plain', onclick: () => {
        pass(id);
        watching.end();
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
      redraw(ending('tried', view));
      return;
    }
    keepDraft(id, {...values, question});
    watching.end();
    const entry = {id, title: question.prompt.slice(0, 200), options: question.options, body: bodyOf(question, values)};
    send(entry, {urgent: !closing.hidden, back() {
      ahead.take(question);
      go(ahead.address(id));
    }});
    if (goOn()) return;
    const thanks = underWay(view);
    redraw(thanks);
    ahead.look(id).then(() => thanks.isConnected && goOn());
  }

  /** goOn shows the next question, if one is known. */
  function goOn() {
    const next = ahead.after(id);
    if (next) go(ahead.address(next.question_id));
    return Boolean(next);
  }

  /** ended shows that the question takes no answer any more: to who has written none, another one. */
  function ended(error) {
    watching.end();
    ahead.leave(id);
    if (!draft(id) && goOn()) return;
    const rest = error.kind === 'closed' && question.handed ? question.opened + late - Date.now() : 0;
    if (rest < soon) {
      redraw(over(error, view, values.answer));
      return;
    }
    closing.textContent = t('question.closed', {n: Math.floor(rest / 1000)});
    closing.hidden = false;
    setTimeout(() => element.isConnected && redraw(over(error, view, values.answer)), rest);
  }

  const article = add(h('article', {class: 'question', 'data-question': id}),
    prompt(question.prompt),
    h('p', {class: 'facts'}, facts(question)),
    element,
    settings.reports && !view.example && reporting(view));
  const watching = watch(question, view, ended);
  if (look) watching.now();
  // Another tab has the same question: what is written there is seen here.
  elsewhere((key) => {
    if (!article.isConnected) return;
    if (key === 'answered' && answered(id)) redraw(ending('answered', view));
    else if (key === `draft.${id}` && draft(id)) {
      watching.end();
      article.replaceWith(form(question, draft(id), view));
    }
  }, signal);
  return article;
}

/**
 * watch looks whether a question still takes answers: now, or soon, while someone writes and sees it. ended is called
 * with the Problem that says that it does not. end ends this.
 */
function watch(question, {id, signal}, ended) {
  const ending = new AbortController();
  const end = () => ending.abort();
  signal.addEventListener('abort', end);
  let looked = Date.now(), timer = null;
  async function now() {
    timer = null;
    if (ending.signal.aborted || document.visibilityState !== 'visible') return;
    looked = Date.now();
    let problem = null;
    try {
      Object.assign(question, await api.question(id, ending.signal));
      if (!question.can_answer) problem = new Problem('answered');
    } catch (error) {
      if (error.name === 'AbortError') return;
      problem = error;
      looked += (error.after ?? 0) * 1000;
    }
    if (done.includes(problem?.kind)) ended(problem);
  }
  return {now, end, soon() {
    timer ??= setTimeout(now, Math.max(0, looked + pause - Date.now()));
  }};
}

/** underWay is the view of an answer that was just sent, where no next question is known yet. */
const underWay = (view) => ending('sending', view, {title: t('thanks.title'), text: t('question.sending')});

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
  if (question.handed) body.handed = question.handed;
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
  if (outcome.kind === 'sent') return thanks(outcome.receipt, entry.options, view);
  return over(outcome.problem, view, entry.body.answer);
}

/** kept is the view of an answer that waits on the device. It becomes another one when the answer has been decided. */
function kept(view, problem = null) {
  const {id} = view;
  const entry = answers.find(id);
  if (!entry) return ending('answered', view);
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
function thanks(receipt, options, {id, signal}) {
  const standing = h('p', {class: 'standing'}, receipt ? t('thanks.total', {n: receipt.total_points}) : '');
  if (receipt) say(said(receipt));
  follow(['stats'], ({stats}) => put(standing, t('thanks.total', {n: stats.total_points}), ' ',
    stats.streak_days > 0 && t('thanks.streak', {n: stats.streak_days})), signal, {lost: () => put(standing)})
    .catch(() => { /* The answer is sent; its thanks do not wait for more. */ });
  return h('section', {class: 'state thanks', 'data-state': 'thanks'}, heading(t('thanks.title')),
    h('p', null, receipt?.late ? said(receipt) : t('thanks.text')),
    receipt && [h('p', {class: 'points'}, t('thanks.points', {n: receipt.points_earned})), earned(receipt, options)],
    standing, onward(id, signal));
}

/** onward leads to the next question, as soon as one is known, and to all. */
function onward(id, signal, others) {
  const actions = h('p', {class: 'actions'}, link('/', {class: 'button primary'}, t('action.home')), others);
  ahead.look(id).then(() => {
    const next = ahead.after(id);
    if (!next || signal.aborted) return;
    put(actions, link(ahead.address(next.question_id), {class: 'button primary'}, t('thanks.next')),
      link('/', {class: 'button'}, t('action.home')), others);
  });
  return actions;
}

/** reporting is a form that reports the question, and then leads on to the next one. */
function reporting(view) {
  const {id, redraw} = view;
  const details = h('details', {class: 'report'}, h('summary', null, t('report.open')));
  details.addEventListener('toggle', async () => {
    if (!details.open || details.querySelector('form')) return;
    const {form} = await import('./report.js');
    details.append(form(() => ({question_id: id}), (reason) => t(`report.${reason}`), {done: () => {
      pass(id);
      redraw(ending('reported', view, {title: t('report.thanks'), text: t('state.passed.title')}));
    }}));
  });
  return details;
}
