// The choice of a language.

import {frame} from './app.js';
import {h} from './dom.js';
import {change, chosen, languages, name, t} from './texts.js';

/** language is a section with the choice. reload shows the view again. */
export const language = (reload) => h('section', null, h('h2', null, t('language.title')),
  h('label', {for: 'language'}, t('language.label')),
  h('select', {
    id: 'language',
    onchange: async (event) => {
      await change(event.currentTarget.value);
      frame();
      await reload();
      document.getElementById('language')?.focus();
    },
  }, languages.map((tag) => h('option', {value: tag, lang: tag, selected: tag === chosen()}, name(tag)))));
