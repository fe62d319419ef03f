// One box: what is written there is translated when people ask for it, and for premium users also when they pause.

import {foreign, h, heading, link, put} from '../../../kit/webapp/modules/dom.js';
import {choice, copying, problem} from '../../../kit/webapp/modules/forms.js';
import {draft, keepDraft} from '../../../kit/webapp/modules/store.js';
import {chosen, t} from '../../../kit/webapp/modules/texts.js';
import * as operations from './operations.js';
import {call, own, said} from './person.js';
import {result} from './result.js';

/** regions are the countries whose slang the lexicon has. */
const regions = ['AU', 'CA', 'GB', 'GH', 'IE', 'IN', 'JM', 'JP', 'KR', 'LK', 'MY', 'NG', 'NZ', 'PK', 'SG', 'US', 'ZA'];

/** pause is how long premium users stop writing until the page translates, in ms. It leaves them so many to ask for. */
const pause = 800, spare = 10;

// Each text is translated and charged once, also if an answer is lost: its requests have one key.
const asked = new Map();

export async function show({signal}) {
  const [usage, {trends}] = await Promise.all([call(operations.readUsage, {}, {signal}),
    call(operations.listTrends, {limit: 10}, {signal}).catch(() => ({trends: []}))]);
  const kept = {text: '', direction: 'to_standard', region: '', ...draft(own('text'))};
  let timer = null, latest = '';

  const field = h('textarea', {id: 'text', rows: '2', dir: 'auto', value: kept.text, 'data-first': true,
    enterkeyhint: 'go', 'aria-describedby': 'problem counts', oninput: () => change({text: field.value}),
    onbeforeinput: (event) => {
      if (event.inputType !== 'insertLineBreak') return;
      event.preventDefault();
      translate();
    }});
  const [line, wrong] = problem();
  const length = h('span'), used = h('span');
  const shown = h('section', {class: 'result', 'aria-live': 'polite', 'aria-label': t('result.title'), hidden: true});
  const names = new Intl.DisplayNames([chosen()], {type: 'region'});
  const region = h('label', {class: 'region'}, t('region.label'), ' ', h('select', {onchange: ({currentTarget}) =>
    change({region: currentTarget.value})}, h('option', {value: ''}, t('region.all')),
  regions.map((code) => [code, names.of(code)]).sort(([, one], [, other]) => one.localeCompare(other, chosen()))
    .map(([code, name]) => h('option', {value: code, selected: code === kept.region}, name))));

  function counts() {
    const n = [...kept.text].length;
    put(length, t('counts.length', {n, limit: usage.text_length}));
    length.classList.toggle('bad', n > usage.text_length);
    put(used, t('counts.today', {n: usage.daily_used, limit: usage.daily_limit}));
    region.hidden = kept.direction !== 'to_slang';
    return kept.text.trim() === '' ? 'wrong.empty' : n > usage.text_length && 'wrong.long';
  }

  /** tell says what is wrong, and where to see what premium users have if more would help. */
  const tell = (text, more) =>
    wrong(text, more && usage.tier === 'free' && [' ', link('/account', null, t('premium.look'))]);

  function change(values) {
    Object.assign(kept, values);
    keepDraft(own('text'), kept);
    clearTimeout(timer);
    wrong();
    const isWrong = counts();
    if (usage.tier === 'premium' && !isWrong && usage.daily_limit - usage.daily_used > spare) {
      timer = setTimeout(translate, pause);
    }
  }

  async function translate() {
    clearTimeout(timer);
    const isWrong = counts();
    if (isWrong) return tell(t(isWrong, {limit: usage.text_length}), isWrong === 'wrong.long');
    const body = {text: kept.text, direction: kept.direction, ...(!region.hidden && {region: kept.region})};
    const name = latest = JSON.stringify(body);
    const request = asked.get(name) ?? {key: crypto.randomUUID()};
    asked.set(name, request);
    shown.setAttribute('aria-busy', 'true');
    try {
      const answer = await (request.sent ??= call(operations.translate, {},
        {body, signal, headers: {'Idempotency-Key': request.key}}));
      if (name !== latest) return null;
      if (!request.counted) usage.daily_used = answer.daily_used;
      request.counted = true;
      wrong();
      counts();
      put(shown, result(answer), h('p', {class: 'actions'}, copying(answer.translated_text)));
      shown.hidden = false;
    } catch (error) {
      request.sent = null;
      if (name === latest && error.name !== 'AbortError') tell(said(error), error.kind === 'limited');
    }
    return shown.removeAttribute('aria-busy');
  }

  counts();
  return h('div', {class: 'translate'}, heading(t('translate.title')),
    h('form', {onsubmit: (event) => { event.preventDefault(); translate(); }},
      choice('direction', t('direction.title'), {to_standard: t('direction.to_standard'),
        to_slang: t('direction.to_slang')}, kept.direction, (direction) => change({direction})), region,
      h('label', {for: 'text', class: 'hidden'}, t('translate.label')), field,
      h('div', {class: 'below'}, h('p', {class: 'counts', id: 'counts'}, length, used),
        h('button', {type: 'submit', class: 'primary'}, t('translate.do'))),
      usage.tier === 'premium' && h('p', {class: 'hint'}, t('translate.live', {n: spare})), line), shown,
    trends.length > 0 && h('section', null, h('h2', null, t('trends.title')), h('ul', {class: 'trends'},
      trends.map(({term, definition}) => h('li', {lang: 'en'}, h('button', {type: 'button', class: 'chip', onclick() {
        field.value = term;
        change({text: term});
        field.focus();
      }}, foreign('span', {class: 'foreign'}, term)), foreign('span', {class: 'foreign'}, definition))))));
}
