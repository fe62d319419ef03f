// The page of To-Do: its views, and what is said above them.

import {notify, start, tell} from '../../../kit/webapp/modules/app.js';
import {foreign, link} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import * as account from './account.js';
import './keys.js';
import {view} from './list.js';
import {me, signedIn} from './person.js';
import * as task from './task.js';
import {changes} from './tasks.js';

changes.addEventListener('change', () => notify());
changes.addEventListener('settled', ({detail: {entry, outcome}}) => {
  const left = outcome.kind === 'sent' && entry.body.kind === 'move' ?
    entry.body.things.length - outcome.receipt.length : 0;
  if (left > 0) tell(t('notice.unmoved', {n: left}));
  // A conflict stands above each view until it is settled.
  if (outcome.kind === 'sent' || outcome.kind === 'changed') return;
  const kind = outcome.kind === 'gone' ? 'gone' : 'refused';
  tell(t(`notice.${kind}`, {title: entry.title, why: outcome.problem.message}));
});

await start({
  views: [
    {path: /^\/$/, name: 'today', load: () => signedIn(view('today'))},
    {path: /^\/upcoming$/, name: 'upcoming', load: () => signedIn(view('upcoming'))},
    {path: /^\/all$/, name: 'all', load: () => signedIn(view('all'))},
    {path: /^\/done$/, name: 'done', load: () => signedIn(view('done'))},
    {path: /^\/t\/([^/]+)$/, load: () => signedIn(task)},
    {path: /^\/account$/, name: 'account', load: () => signedIn(account)},
  ],
  navigation: () =>
    me.signedIn() ? {today: '/', upcoming: '/upcoming', all: '/all', done: '/done', account: '/account'} : {},
  standing() {
    if (!me.signedIn()) return [];
    const n = changes.waiting().filter(({until}) => !(until > Date.now())).length;
    return [
      n > 0 && navigator.onLine === false && t('notice.waiting', {n}),
      ...Object.entries(changes.conflicts()).map(([id, {title}]) => [t('notice.changed'),
        foreign('q', {class: 'foreign'}, title), link(`/t/${encodeURIComponent(id)}`, null, t('changed.look'))]),
    ].filter(Boolean);
  },
});
if (me.signedIn()) changes.start();
