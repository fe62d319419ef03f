// The text of a question. It is a headline, and what stands between lines of ``` is code.

import {foreign, h} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';

const fence = /^```[^\n`]*\n([\s\S]*?)\n```[ \t]*$/m;

/**
 * prompt is the text as elements. The first text is the heading of the view; a text of code alone gets a heading of
 * ours.
 */
export function prompt(text) {
  const parts = text.split(fence).map((part, at) => at % 2 ? part : part.trim());
  const title = parts[0] ? foreign('h1', {class: 'foreign', tabindex: '-1'}, parts[0]) : h('h1', {tabindex: '-1'},
    t('question.title'));
  return h('div', {class: 'prompt', id: 'prompt'}, title, parts.slice(1).map((part, at) =>
    part && (at % 2 ? foreign('p', {class: 'foreign'}, part) : h('pre', {class: 'foreign', dir: 'ltr', tabindex: '0'},
      h('code', null, part)))));
}
