// How a person develops: the curve of each dimension, what to practise, and the attempts.

import {figure, h, heading, link, svg} from '../../../kit/webapp/modules/dom.js';
import {pages} from '../../../kit/webapp/modules/pages.js';
import {date, number, t} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';
import {call} from './person.js';
import {said} from './scenarios.js';

const most = 4, width = 200, height = 56, edge = 5;

export async function show({signal}) {
  const [{scenarios}, profile] = await Promise.all([call(operations.listScenarios, {}, {signal}),
    call(operations.readProfile, {}, {signal}).catch((error) => {
      if (error.kind === 'gone') return null;
      throw error;
    })]);
  const titles = new Map(scenarios.map(({scenarioId, title}) => [scenarioId, title]));
  const done = new Set();
  const attempts = await pages(async (nextToken) => {
    const page = await call(operations.listAttempts, {limit: 20, nextToken}, {signal});
    return {items: page.attempts, next: page.nextToken};
  }, (one) => {
    done.add(one.scenarioId);
    return card(one, titles.get(one.scenarioId) ?? one.scenarioId);
  }, {label: t('progress.attempts'), empty: t('progress.none')});
  return h('div', {class: 'progress'}, heading(t('progress.title')),
    profile ? [h('dl', {class: 'figures'}, figure(t('progress.count'), profile.attemptCount),
      figure(t('progress.average'), Math.round(profile.overallAverage))), practice(profile, scenarios, done),
    curves(profile)] : h('p', {class: 'lead'}, t('progress.begin')),
    h('section', null, h('h2', null, t('progress.attempts')), attempts));
}

function card({attemptId, scenarioId, status, timestamp, evaluation}, title) {
  const going = status === 'in-progress';
  return h('li', {class: 'card'}, link(going ? `/s/${encodeURIComponent(scenarioId)}` : `/a/${attemptId}`,
    {class: 'cover'}, said('span', {}, title)), h('p', {class: 'facts'}, h('span', null, date(timestamp)),
    evaluation ? h('strong', null, t('scenario.score', {n: evaluation.overallScore}))
      : h('span', null, t(`status.${status}`))));
}

/** practice is a recommendation for each weakness, with a scenario that trains it, if can be one that is not tried. */
function practice({weaknesses, recommendations}, scenarios, done) {
  return h('section', null, h('h2', null, t('progress.practise')), h('ul', {class: 'cards'},
    recommendations.map((text, at) => {
      const {dimension} = weaknesses[at];
      const trains = scenarios.filter(({questions}) =>
        questions.some(({focusAreas}) => focusAreas.includes(dimension)));
      const to = trains.find(({scenarioId}) => !done.has(scenarioId)) ?? trains[0];
      return h('li', {class: 'card'}, h('h3', null, t(`dimension.${dimension}`)), said('p', {}, text),
        to && h('p', {class: 'hint'}, t('progress.with'), ' ',
          link(`/s/${encodeURIComponent(to.scenarioId)}`, {lang: 'en'}, to.title)));
    })));
}

function curves({dimensions}) {
  const last = dimensions[0]?.recentScores.length ?? 0;
  return h('section', null, h('h2', null, t('progress.curves')),
    h('p', {class: 'hint'}, t('progress.latest', {n: last})),
    h('ul', {class: 'curves'}, dimensions.map((one) => h('li', {class: 'card'},
      h('h3', null, t(`dimension.${one.name}`)), curve(one),
      h('p', {class: `hint trend ${one.trend}`}, t(`trend.${one.trend}`),
        ` · ${t('progress.mean', {n: one.movingAverage})}`)))),
    h('details', null, h('summary', null, t('progress.table')), h('table', null,
      h('thead', null, h('tr', null, ['dimension', 'scores', 'averageShort'].map((name) =>
        h('th', {scope: 'col'}, t(`progress.${name}`))))),
      h('tbody', null, dimensions.map(({name, recentScores, movingAverage}) => h('tr', null,
        h('th', {scope: 'row'}, t(`dimension.${name}`)), h('td', null, recentScores.map(number).join(' ')),
        h('td', null, number(movingAverage))))))));
}

/** curve draws scores from 0 to 4, the oldest first. */
function curve({name, recentScores: scores, trend}) {
  const x = (at) => edge + (scores.length < 2 ? (width - 2 * edge) / 2 : at * (width - 2 * edge) / (scores.length - 1));
  const y = (score) => height - edge - score * (height - 2 * edge) / most;
  const last = scores.length - 1;
  return svg('svg', {class: 'curve', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': t('progress.says', {
    name: t(`dimension.${name}`), scores: scores.map(number).join(', '), trend: t(`trend.${trend}`)})},
  [0, 2, most].map((score) => svg('line', {x1: 0, x2: width, y1: y(score), y2: y(score)})),
  svg('polyline', {points: scores.map((score, at) => `${x(at)},${y(score)}`).join(' ')}),
  svg('circle', {cx: x(last), cy: y(scores[last]), r: 4}));
}
