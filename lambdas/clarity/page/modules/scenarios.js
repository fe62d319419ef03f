// The scenarios, the easiest first, with what became of them.

import {h, heading, link} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';
import {call} from './person.js';

const levels = ['beginner', 'intermediate', 'advanced'];

/** attempts returns the newest attempts, for what views say of scenarios. */
export const attempts = async (signal) => (await call(operations.listAttempts, {limit: 100}, {signal})).attempts;

export async function show({signal}) {
  const [{scenarios}, tried] = await Promise.all([call(operations.listScenarios, {}, {signal}), attempts(signal)]);
  return h('div', {class: 'scenarios'}, heading(t('scenarios.title')),
    levels.map((level) => [level, scenarios.filter(({difficulty}) => difficulty === level)])
      .filter(([, all]) => all.length > 0).map(([level, all]) => [h('h2', null, t(`level.${level}`)),
        h('ul', {class: 'cards', 'aria-label': t(`level.${level}`)}, all.map((one) =>
          card(one, tried.filter(({scenarioId}) => scenarioId === one.scenarioId))))]),
    scenarios.length === 0 && h('p', {class: 'empty'}, t('scenarios.empty')));
}

function card(scenario, tried) {
  const scores = tried.map(({evaluation}) => evaluation?.overallScore).filter((score) => score !== undefined);
  return h('li', {class: 'card'},
    link(`/s/${encodeURIComponent(scenario.scenarioId)}`, {class: 'cover'}, said('span', {}, scenario.title)),
    h('p', {class: 'facts'}, h('span', null, t('scenario.minutes', {n: scenario.estimatedMinutes})),
      h('span', null, t('scenario.questions', {n: scenario.questions.length})),
      (scenario.tags ?? []).map((tag) => said('span', {class: 'tag'}, tag)),
      tried.some(({status}) => status === 'in-progress') && h('strong', {class: 'going'}, t('scenario.going')),
      scores.length > 0 && h('strong', null, t('scenario.best', {n: Math.max(...scores)}))));
}

/** said is a text of the author of a scenario, or of an evaluator. */
export const said = (name, attributes, text) =>
  h(name, {...attributes, class: `foreign ${attributes.class ?? ''}`.trim(), dir: 'auto', lang: 'en'}, text);
