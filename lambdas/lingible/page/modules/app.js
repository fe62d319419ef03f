// The page of Lingible: its views.

import {start} from '../../../kit/webapp/modules/app.js';
import * as account from './account.js';
import {behind, me} from './person.js';
import * as quiz from './quiz.js';
import * as translate from './translate.js';
import * as words from './words.js';

await start({
  views: [
    {path: /^\/$/, name: 'translate', load: () => behind(translate)},
    {path: /^\/words$/, name: 'words', load: () => behind(words)},
    {path: /^\/play$/, name: 'quiz', load: () => behind(quiz)},
    {path: /^\/account$/, name: 'account', load: () => behind(account)},
  ],
  navigation: () => me.signedIn() ? {translate: '/', words: '/words', quiz: '/play', account: '/account'} : {},
});
