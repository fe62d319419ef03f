// The page of Clarity: its views.

import {start} from '../../../kit/webapp/modules/app.js';
import * as account from './account.js';
import * as attempt from './attempt.js';
import {behind, me} from './person.js';
import * as progress from './progress.js';
import * as scenarios from './scenarios.js';
import * as work from './work.js';

await start({
  views: [
    {path: /^\/$/, name: 'scenarios', load: () => behind(scenarios)},
    {path: /^\/s\/([^/]+)$/, load: () => behind(work)},
    {path: /^\/a\/([^/]+)$/, load: () => behind(attempt)},
    {path: /^\/progress$/, name: 'progress', load: () => behind(progress)},
    {path: /^\/account$/, name: 'account', load: () => behind(account)},
  ],
  navigation: () => me.signedIn() ? {scenarios: '/', progress: '/progress', account: '/account'} : {},
});
