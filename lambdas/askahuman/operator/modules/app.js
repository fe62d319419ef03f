// The page of operators: what was reported, the questions of an agent, the names on the leaderboards, and what is kept
// of a person.

import {start} from '../../../kit/webapp/modules/app.js';
import {h} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as agent from './agent.js';
import {leave, start as send} from './hiding.js';
import * as names from './names.js';
import {count, look} from './open.js';
import {behind, operator} from './operator.js';
import * as person from './person.js';
import * as reports from './reports.js';

/** counted is a view beside which the menu says how many reports are open. */
const counted = (view) => behind({async show(context) {
  const content = await view.show(context);
  look();
  return content;
}});

await start({
  views: [
    {path: /^\/operator$/, name: 'reports', load: () => counted(reports)},
    {path: /^\/operator\/agent$/, name: 'agent', load: () => counted(agent)},
    {path: /^\/operator\/names$/, name: 'names', load: () => counted(names)},
    {path: /^\/operator\/person$/, name: 'person', load: () => counted(person)},
  ],
  navigation: () => operator.signedIn() ?
    {reports: '/operator', agent: '/operator/agent', names: '/operator/names', person: '/operator/person'} : {},
  counts: () => ({reports: count()}),
  below: () => operator.signedIn() && [
    h('span', {class: 'who'}, t('signin.as', {name: operator.name()})),
    h('button', {type: 'button', onclick: () => leave()}, t('signin.leave')),
  ],
});
if (operator.signedIn()) send();
