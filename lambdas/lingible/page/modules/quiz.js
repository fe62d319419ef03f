// A quiz of ten questions, with how many in a row were right.

import {figure, foreign, h, heading, link, put, say} from '../../../kit/webapp/modules/dom.js';
import {state} from '../../../kit/webapp/modules/states.js';
import {read, write} from '../../../kit/webapp/modules/store.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';
import {call, own, said} from './person.js';

const all = 10;

export async function show({signal, reload}) {
  const {remaining_today: left} = await call(operations.readQuizHistory, {}, {signal});
  const step = h('div', {class: 'step'});
  // How the quiz stands on this device; the server has the points.
  const none = {session: '', asked: 0, right: 0, points: 0, streak: 0, best: 0};
  let round = {...none, ...read(own('quiz'))};
  const button = (text, act) => h('button', {type: 'button', class: 'primary', onclick: () => attempt(act)}, text);

  /** attempt draws the next step, or why there is none. */
  async function attempt(act) {
    for (const one of step.querySelectorAll('button')) one.disabled = true;
    let content;
    try {
      content = await act();
    } catch (error) {
      if (error.name === 'AbortError') return;
      content = [h('p', {class: 'problem', role: 'alert'}, said(error)), error.told?.code === 'BIZ_001'
        ? [round.asked > 0 && figures(), link('/', {class: 'button'}, t('action.home'))]
        : button(t('action.again'), ask)];
    }
    put(step, content);
    (step.querySelector('.primary') ?? step.querySelector('h2, a'))?.focus({preventScroll: true});
  }

  async function ask() {
    const question = await call(operations.askQuestion, {}, {signal});
    if (round.session !== question.session_id) round = {...none, session: question.session_id};
    return [
      h('p', {class: 'facts'}, h('span', null, t('quiz.number', {n: round.asked + 1, all})), streak()),
      h('h2', {tabindex: '-1', lang: 'en'}, t('quiz.asks', {term: question.term})),
      h('ol', {class: 'options', lang: 'en'}, question.options.map(({option_id: id, text}) =>
        h('li', null, h('button', {type: 'button', onclick: () => attempt(() => answer(question, id))},
          foreign('span', {class: 'foreign'}, text))))),
    ];
  }

  async function answer(question, selected) {
    const got = await call(operations.answerQuestion, {}, {signal, body: {
      session_id: question.session_id, question_id: question.question_id, selected_option: selected}});
    const run = got.is_correct ? round.streak + 1 : 0;
    round = {session: question.session_id, asked: got.progress.questions_asked, right: got.progress.correct_answers,
      points: got.progress.total_score, streak: run, best: Math.max(round.best, run)};
    write(own('quiz'), round);
    const outcome = t(got.is_correct ? 'quiz.right' : 'quiz.wrong', {n: got.points_earned});
    say(outcome);
    return [
      h('p', {class: 'facts'}, h('span', null, t('quiz.number', {n: round.asked, all})), streak()),
      h('p', {class: 'lead', lang: 'en'}, t('quiz.asks', {term: question.term})),
      h('h2', {tabindex: '-1', class: got.is_correct ? 'right' : 'wrong'}, outcome),
      h('ol', {class: 'options', lang: 'en'}, question.options.map(({option_id: id, text}) => h('li', {
        class: id === got.correct_option ? 'right' : id === selected ? 'wrong' : 'other'},
      foreign('span', {class: 'foreign'}, text),
      id === got.correct_option && h('strong', null, t('quiz.isRight')),
      id === selected && !got.is_correct && h('i', null, t('quiz.yours'))))),
      foreign('p', {class: 'foreign lead', lang: 'en'}, got.explanation.example),
      h('p', {class: 'actions'}, round.asked < all ? button(t('quiz.next'), ask) : button(t('quiz.end'), end)),
    ];
  }

  async function end() {
    await call(operations.endQuiz, {}, {signal, body: {session_id: round.session}});
    return [h('h2', {tabindex: '-1'}, t('quiz.over')), figures(),
      h('p', {class: 'actions'}, h('button', {type: 'button', class: 'primary', onclick: reload}, t('quiz.more')))];
  }

  const streak = () => round.streak > 1 && h('span', {class: 'streak'}, t('quiz.streak', {n: round.streak}));
  const figures = () => h('dl', {class: 'figures'}, figure(t('quiz.rights'), t('quiz.of', {n: round.right,
    all: round.asked})), figure(t('quiz.points'), Math.round(round.points)), figure(t('quiz.best'), round.best));

  if (left === 0) return state('used');
  put(step, h('p', null, t('quiz.text')), left !== null && h('p', {class: 'hint'}, t('quiz.left', {n: left})),
    h('p', {class: 'actions'}, button(t('quiz.begin'), ask)));
  return h('div', {class: 'quiz'}, heading(t('quiz.title')), step);
}
