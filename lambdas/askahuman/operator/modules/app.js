// The page of operators: what was reported, the questions of an agent, and the names on the leaderboards.

import {start} from '../../../kit/webapp/modules/app.js';
import {h} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as agent from './agent.js';
import * as names from './names.js';
import * as reports from './reports.js';
import {behind, operator} from './operator.js';

await start({
  views: [
    {path: /^\/operator$/, name: 'reports', load: () => behind(reports)},
    {path: /^\/operator\/agent$/, name: 'agent', load: () => behind(agent)},
    {path: /^\/operator\/names$/, name: 'names', load: () => behind(names)},
  ],
  navigation: () =>
    operator.signedIn() ? {reports: '/operator', agent: '/operator/agent', names: '/operator/names'} : {},
  below: () => operator.signedIn() && [
    h('span', {class: 'who'}, t('signin.as', {name: operator.name()})),
    h('button', {type: 'button', onclick: () => operator.leave()}, t('signin.leave')),
  ],
});
