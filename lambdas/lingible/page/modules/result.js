// A translation, and what its terms mean.

import {foreign, h} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';

const list = (title, glosses = []) => glosses.length > 0 && [h('h2', null, title), h('dl', {class: 'meanings'},
  glosses.map(({term, plain, meaning}) => h('div', {lang: 'en'}, foreign('dt', {class: 'foreign'}, term),
    h('dd', null, plain && foreign('strong', {class: 'foreign'}, plain),
      foreign('span', {class: 'foreign'}, meaning)))))];

/** result draws an answer of the operation translate. */
export const result = ({translated_text: text, unchanged, low_confidence: unsure, meanings, glosses}) => [
  foreign('p', {class: 'foreign translated', lang: 'en'}, text),
  unchanged ? h('p', {class: 'hint'}, t(unsure ? 'result.unknown' : 'result.unchanged'))
    : unsure && h('p', {class: 'hint'}, t('result.unsure')),
  list(t('result.meanings'), meanings), list(t('result.stays'), glosses),
];
