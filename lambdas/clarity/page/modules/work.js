// Working on a scenario: its text, and the answers, which are saved as one writes.

import {go} from '../../../kit/webapp/modules/app.js';
import {autosave, saving} from '../../../kit/webapp/modules/autosave.js';
import {h, heading, put, say} from '../../../kit/webapp/modules/dom.js';
import {problem} from '../../../kit/webapp/modules/forms.js';
import {draft} from '../../../kit/webapp/modules/store.js';
import {t, time} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';
import {call, own} from './person.js';
import {attempts, said} from './scenarios.js';

const shortest = 10;

/** words counts as the platform does. */
const words = (text) => text.split(/\s+/).filter(Boolean).length;

/** texts are the answers of an attempt by their questions. */
const texts = ({answers = []}) => Object.fromEntries(answers.map(({questionId, answer}) => [questionId, answer]));

/** begun returns what one begins with: what waits on this device, else the attempt that is in progress, if any. */
async function begun(id, signal) {
  await saving.get(own(`work.${id}`));
  const kept = draft(own(`work.${id}`));
  if (kept?.unsaved) return kept;
  const found = kept?.attempt ?? (await attempts(signal)).find(({scenarioId, status}) =>
    scenarioId === id && status === 'in-progress')?.attemptId;
  const there = found && await call(operations.readAttempt, {id: found}, {signal}).catch((error) => {
    if (error.kind !== 'gone') throw error;
  });
  return there?.status === 'in-progress'
    ? {attempt: there.attemptId, version: there.version, answers: texts(there), key: crypto.randomUUID()}
    : {attempt: null, version: 0, answers: {}, key: crypto.randomUUID()};
}

export async function show({parts: [id], signal, reload}) {
  const [scenario, values] = await Promise.all([call(operations.readScenario, {id}, {signal}), begun(id, signal)]);
  const {questions} = scenario;
  const status = h('p', {class: 'hint saved', role: 'status'});
  const [line, wrong] = problem();

  /** given are answers as the operations take them. */
  const given = (answers) => questions.map(({questionId}) => ({questionId, answer: answers[questionId] ?? ''}));

  /** change changes the attempt. A change whose answer was lost has arrived if it is what the attempt has. */
  async function change(body, {attempt, version}) {
    const headers = {'If-Match': `"${version}"`};
    try {
      return await call(operations.saveAttempt, {id: attempt}, {body, headers});
    } catch (error) {
      if (error.kind !== 'changed' && error.kind !== 'over') throw error;
      const there = await call(operations.readAttempt, {id: attempt});
      if (body.status === 'completed' && there.status === 'completed') return there;
      if (there.status !== 'in-progress' || JSON.stringify(given(texts(there))) !== values.sent) throw error;
      return change(body, {attempt, version: there.version});
    }
  }

  async function save() {
    // An attempt is begun without answers, so that a repeat is the same request.
    if (!values.attempt) {
      const {attemptId: attempt, version} = await call(operations.createAttempt, {}, {
        body: {scenarioId: id, status: 'in-progress', answers: []}, headers: {'Idempotency-Key': values.key}});
      Object.assign(values, {attempt, version});
    }
    const answers = given(values.answers);
    values.sent = JSON.stringify(answers);
    return {version: (await change({answers}, values)).version};
  }

  const work = autosave(own(`work.${id}`), values, {signal, save, tell(state, error) {
    put(status, state === 'saved' ? t('work.saved', {at: time(Date.now())}) : t(`work.${state}`));
    if (state === 'changed' || state === 'over') wrong(...choices(state));
    else wrong(state === 'refused' || state === 'gone' ? error.message : null);
  }});

  /** choices are what people can do whose attempt was changed or handed in elsewhere. */
  const choices = (state) => [t(`work.${state}.text`), h('span', {class: 'actions'},
    h('button', {type: 'button', onclick: async () => {
      const there = state === 'changed' && await call(operations.readAttempt, {id: values.attempt});
      work.change(there ? {version: there.version} : {attempt: null, version: 0, key: crypto.randomUUID()});
      work.flush();
    }}, t(`work.${state}.mine`)),
    h('button', {type: 'button', onclick: () => {
      work.end();
      return state === 'changed' ? reload() : go(`/a/${values.attempt}`);
    }}, t(`work.${state}.theirs`)))];

  const fields = questions.map((question, at) => field(question, at, values.answers, (answer) =>
    work.change({answers: {...values.answers, [question.questionId]: answer}})));

  async function handIn(event) {
    event.preventDefault();
    const lacking = fields.filter((one) => [...one.area.value.trim()].length < shortest);
    for (const {area} of fields) area.removeAttribute('aria-invalid');
    for (const {area} of lacking) area.setAttribute('aria-invalid', 'true');
    if (lacking.length > 0) {
      wrong(t('work.lacking', {n: lacking.length, least: shortest}));
      lacking[0].area.focus();
      return;
    }
    hand.disabled = true;
    try {
      const failed = await work.flush();
      if (failed) throw failed;
      put(status, t('work.evaluating'));
      await change({status: 'completed'}, values);
      work.end();
      say(t('work.done'));
      go(`/a/${values.attempt}`);
    } catch (error) {
      hand.disabled = false;
      if (!error.kind) throw error;
      if (error.kind === 'changed' || error.kind === 'over') wrong(...choices(error.kind));
      else wrong(error.unknown || error.kind === 'limited' ? t(`said.${error.kind}`) : error.message);
    }
  }

  const hand = h('button', {type: 'submit', class: 'primary'}, t('work.handIn'));
  return h('div', {class: 'pair work'},
    h('section', {class: 'situation'}, heading(said('span', {}, scenario.title)),
      h('p', {class: 'facts'}, h('span', null, t(`level.${scenario.difficulty}`)),
        h('span', null, t('scenario.minutes', {n: scenario.estimatedMinutes}))),
      said('p', {class: 'description'}, scenario.description)),
    h('form', {novalidate: true, onsubmit: handIn}, fields.map((one) => one.element), line,
      h('div', {class: 'hand'}, hand, status)));
}

/** field is a question with its answer, whose words it counts. */
function field({questionId, text, targetWordCount: wanted, focusAreas}, at, answers, change) {
  const count = h('span', {class: 'count', id: `count-${at}`});
  const counted = () => put(count, t('work.words', {n: words(area.value), wanted}));
  const area = h('textarea', {id: questionId, rows: '6', dir: 'auto', maxlength: '5000',
    value: answers[questionId] ?? '', 'data-first': at === 0, 'aria-describedby': `count-${at} problem`, oninput() {
      counted();
      change(area.value);
    }});
  counted();
  return {area, element: h('div', {class: 'question'}, h('label', {for: questionId}, said('span', {}, text)),
    h('p', {class: 'hint'}, t('work.trains', {what: focusAreas.map((area) => t(`dimension.${area}`)).join(', ')})),
    area, count)};
}
