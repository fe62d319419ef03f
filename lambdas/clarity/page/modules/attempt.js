// An attempt that was handed in: its scores, each reason marked in the answers, and what to improve.

import {h, heading, link, say} from '../../../kit/webapp/modules/dom.js';
import {date, t} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';
import {call} from './person.js';
import {said} from './scenarios.js';

export async function show({parts: [id], signal, reload}) {
  const attempt = await call(operations.readAttempt, {id}, {signal});
  const scenario = await call(operations.readScenario, {id: attempt.scenarioId}, {signal});
  const {evaluation, answers = []} = attempt;
  const places = new Map();
  for (const {rationale} of evaluation?.dimensions ?? []) {
    for (const reason of rationale) {
      const found = place(reason, answers);
      if (found) places.set(reason, {...found, n: places.size + 1});
    }
  }
  const written = h('section', {class: 'written'}, h('h2', null, t('attempt.answers')), answers.map((answer, at) => [
    said('h3', {}, answer.questionText),
    h('p', {class: 'own', dir: 'auto'}, marked(answer.answer, [...places.values()].filter((one) => one.at === at))),
    h('p', {class: 'hint'}, t('attempt.words', {n: answer.wordCount}))]));
  return h('div', {class: 'attempt'}, heading(said('span', {}, scenario.title)),
    h('p', {class: 'facts'}, h('span', null, date(attempt.timestamp)),
      h('span', null, t(`level.${scenario.difficulty}`))),
    evaluation ? summary(evaluation) : pending(attempt, reload),
    h('div', {class: 'pair'}, evaluation && h('section', {class: 'scores'}, h('h2', null, t('attempt.scores')),
      evaluation.dimensions.map((one) => dimension(one, places)),
      said('p', {class: 'hint'}, evaluation.feedback)), written),
    h('p', {class: 'actions'}, link('/progress', {class: 'button primary'}, t('attempt.progress')),
      link('/', {class: 'button'}, t('attempt.another'))));
}

/** summary has the overall score, and the one thing to improve: of the lowest dimension that could be judged. */
function summary({overallScore, dimensions}) {
  const judged = dimensions.filter(({uncertain}) => !uncertain);
  const lowest = (judged.length > 0 ? judged : dimensions)
    .reduce((least, one) => one.score < least.score ? one : least);
  return h('section', {class: 'summary'}, h('p', {class: 'overall'}, h('strong', null, overallScore),
    h('span', null, t('attempt.of'))), h('p', {class: 'improve'}, h('strong', null, t('attempt.improve')), ' ',
    t(`improve.${lowest.name}`)));
}

/** pending says why there is no evaluation yet. */
function pending({attemptId: id, status, evaluationStatus, evaluationFailure: failure}, reload) {
  if (status !== 'completed') return h('p', {class: 'problem'}, t(`attempt.${status}`));
  const button = h('button', {type: 'button', class: 'primary', onclick: async () => {
    button.disabled = true;
    await call(operations.evaluateAttempt, {id}).catch(({kind, message}) =>
      say(kind === 'over' ? message : t(`said.${kind}`)));
    await reload();
  }}, t('attempt.evaluate'));
  return h('section', {class: 'summary'}, h('p', null, failure === 'limit' ? t('attempt.limit')
    : t(evaluationStatus === 'failed' ? 'attempt.failed' : 'attempt.pending')), h('p', {class: 'actions'}, button));
}

function dimension({name, score, rationale, uncertain}, places) {
  return h('div', {class: 'dimension'}, h('h3', null, t(`dimension.${name}`)),
    h('p', {class: 'score'}, h('span', {class: 'bar', 'aria-hidden': 'true'}, [1, 2, 3, 4].map((n) =>
      h('i', {class: !uncertain && n <= score ? 'full' : null}))),
    uncertain ? t('score.unknown') : t('score.of', {n: score})),
    h('ul', null, rationale.map((reason) => h('li', null, said('span', {}, reason), places.has(reason) &&
      h('button', {type: 'button', class: 'to', onclick: () => point(places.get(reason).n)},
        t('attempt.mark', {n: places.get(reason).n}))))));
}

/** point shows the mark of a reason. */
function point(n) {
  for (const one of document.querySelectorAll('mark')) {
    one.classList.toggle('meant', one.dataset.of.split(' ').includes(String(n)));
  }
  const mark = document.getElementById(`mark-${n}`);
  mark.scrollIntoView({block: 'center'});
  mark.focus({preventScroll: true});
}

const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** place finds what a reason quotes: the longest quotation that is in the answer which the reason names, or in any. */
export function place(reason, answers) {
  const named = Number(/^Answer (\d+):/.exec(reason)?.[1] ?? 0);
  const quoted = [...reason.matchAll(/[“"]([^“”"]+)[”"]/g)].map(([, text]) => text.replace(/…$/, '').trim())
    .filter(Boolean).sort((one, other) => other.length - one.length);
  for (const text of quoted) {
    const wanted = new RegExp(text.split(/\s+/).map(literal).join('\\s+'));
    for (const [at, {answer}] of answers.entries()) {
      const found = (!named || at === named - 1) && wanted.exec(answer);
      if (found) return {at, from: found.index, to: found.index + found[0].length};
    }
  }
  return null;
}

/** marked returns a text with marks, each with its number. Marks may overlap. */
function marked(text, marks) {
  const cuts = [...new Set([0, text.length, ...marks.flatMap(({from, to}) => [from, to])])].sort((a, b) => a - b);
  return cuts.slice(1).map((to, before) => {
    const from = cuts[before], of = marks.filter((one) => one.from < to && one.to > from);
    return [of.length > 0 ? h('mark', {'data-of': of.map(({n}) => n).join(' ')}, text.slice(from, to))
      : text.slice(from, to), marks.filter((one) => one.to === to).map(({n}) =>
      h('sup', {id: `mark-${n}`, tabindex: '-1'}, n))];
  });
}
