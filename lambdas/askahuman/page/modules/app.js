// The page: its views, and what is said beside them.

import {frame, notify, start, tell} from '../../../kit/webapp/modules/app.js';
import {link} from '../../../kit/webapp/modules/dom.js';
import {settings} from '../../../kit/webapp/modules/settings.js';
import {elsewhere, read} from '../../../kit/webapp/modules/store.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import {address} from './ahead.js';
import {answers} from './answers.js';
import {beside} from './beside.js';
import * as feed from './feed.js';
import * as question from './question.js';
import {arrived, hide, underWay} from './sent.js';
import {renew} from './standing.js';

answers.addEventListener('change', () => notify());
answers.addEventListener('settled', ({detail: {entry, outcome}}) => {
  const own = location.pathname === address(entry.id);
  if (outcome.receipt && !own) {
    arrived(entry, outcome.receipt);
    return;
  }
  hide(entry.id);
  // The question's own view says it itself.
  if (own) return;
  if (outcome.kind === 'sent') tell(t('notice.sent'));
  else tell(t(`notice.${outcome.kind}`, {prompt: entry.title}));
});
// Another tab has answered.
elsewhere((key) => { if (key === 'answered') renew(); });

if (location.pathname === '/') feed.ask();
await start({
  // The questions are what most people come for; the others load when they are opened.
  views: [
    {path: /^\/$/, name: 'questions', load: () => feed},
    {path: /^\/q\/([^/]+)$/, load: () => question},
    {path: /^\/me$/, name: 'me', load: () => import('./me.js')},
    {path: /^\/answers$/, name: 'me', load: () => import('./own-answers.js')},
    {path: /^\/leaderboard$/, name: 'leaderboard', load: () => import('./leaderboard.js')},
    {path: /^\/settings$/, name: 'settings', load: () => import('./settings.js')},
  ],
  navigation: () => ({questions: '/', me: '/me', leaderboard: '/leaderboard', settings: '/settings'}),
  standing: () => {
    const n = answers.waiting().filter(({id, until}) => !(until > Date.now()) && !underWay(id)).length;
    return n > 0 ? [t('notice.waiting', {n})] : [];
  },
  beside,
  below: () => settings.links?.map(({name, url}) => link(url, {rel: 'noopener'}, name)),
  async kept() {
    if (!(settings.firebase || settings.inbox) || !read('push')) return;
    const push = await import('./push.js');
    await push.renew().catch(() => { /* The next visit tries again. */ });
  },
});
answers.start();
