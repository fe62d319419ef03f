// The questions that want answers. The list follows the server while someone looks at it.

import * as api from './api.js';
import {add, foreign, h, heading, link, put, say} from '../../../kit/webapp/modules/dom.js';
import {address, listed} from './ahead.js';
import {answers, wanted} from './answers.js';
import {settings} from '../../../kit/webapp/modules/settings.js';
import {stateOf} from '../../../kit/webapp/modules/states.js';
import {read as kept, write} from '../../../kit/webapp/modules/store.js';
import {ago, ahead, t} from '../../../kit/webapp/modules/texts.js';

export const audiences = ['technical', 'product', 'ethics', 'creative', 'general'];

const soonest = 20_000, latest = 180_000;

/** next is the pause before the list is read again: longer while nothing changes or the server fails. */
export function next(pause, {changed = false, after = null} = {}) {
  if (after) return Math.max(soonest, after * 1000);
  return changed ? soonest : Math.min(latest, Math.round(pause * 1.5));
}

/**
 * merge returns the list after its first page was read again: what is new, what stays, and what came below it before.
 */
export function merge(before, read) {
  const fresh = new Set(read.questions.map((one) => one.question_id));
  if (!read.next_cursor) return read.questions;
  const last = read.questions.at(-1);
  const below = last ? before.filter((one) => !fresh.has(one.question_id) && one.created_at < last.created_at) : before;
  return [...read.questions, ...below];
}

/** most is how many pages are read one after the other while none has a question: each looks at 120 of them. */
const most = 4;

/** page reads a page of the feed, and those after it while there is nothing on it to show. */
async function page({audience, cursor, signal}) {
  let read = await api.feed({audience, cursor, signal});
  if (!cursor) listed(read.questions);
  for (let n = 1; n < most && read.next_cursor && wanted(read.questions).length === 0; n++) {
    const {questions} = read;
    read = await api.feed({audience, cursor: read.next_cursor, signal});
    read.questions = [...questions, ...read.questions];
  }
  // The API has no list of what has ended: this device knows when the last question came that it has seen.
  const newest = read.questions[0]?.created_at ?? '';
  if (newest > kept('newest', '')) write('newest', newest);
  return read;
}

/** left are the lists as they were when they were left, by audience: who comes back finds the same cards. */
const left = new Map();

/** asked is the first page of the first view, which is asked for while the texts are on their way. */
let asked = null;

/** ask asks for the questions ahead of the view. */
export function ask() {
  asked = page({audience: audienceOf(new URLSearchParams(location.search))});
  asked.catch(() => { /* The view says what is wrong. */ });
}

const audienceOf = (parameters) => audiences.includes(parameters.get('audience')) ? parameters.get('audience') : '';

export async function show({parameters, signal, back, reload}) {
  const audience = audienceOf(parameters);
  let first = back ? left.get(audience) : null;
  const again = Boolean(first);
  try {
    first ??= await (asked ?? page({audience, signal}));
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return stateOf(error, reload);
  } finally {
    asked = null;
  }
  let {questions, next_cursor: cursor} = first;
  signal.addEventListener('abort', () => left.set(audience, {questions, next_cursor: cursor}));
  const list = h('ul', {class: 'cards', 'aria-label': t('feed.title')});
  const below = h('div', {class: 'actions'});
  const items = new Map();

  function draw() {
    const shown = wanted(questions);
    const ids = new Set(shown.map((one) => one.question_id));
    for (const [id, item] of items) {
      if (ids.has(id)) continue;
      // Who is on a question that goes does not lose the place.
      if (item.contains(document.activeElement)) {
        (item.nextElementSibling ?? item.previousElementSibling)?.querySelector('a')?.focus();
      }
      item.remove();
      items.delete(id);
    }
    shown.forEach((one, at) => {
      let item = items.get(one.question_id);
      if (!item) items.set(one.question_id, item = card(one));
      else update(item, one);
      if (list.children[at] !== item) list.insertBefore(item, list.children[at] ?? null);
    });
    put(below, shown.length === 0 && h('p', {class: 'empty'},
      audience ? t('feed.emptyFor', {audience: t(`audience.${audience}`)}) : t('feed.empty'),
      kept('newest') && [' ', t('feed.last', {time: ago(kept('newest'))})],
      settings.firebase && [' ', link('/settings', null, t('feed.tell'))]),
      cursor && h('button', {type: 'button', onclick: more}, t('feed.more')));
  }

  async function more(event) {
    const button = event.currentTarget;
    button.disabled = true;
    try {
      const following = await page({audience, cursor, signal});
      const first = following.questions.find((one) => !items.has(one.question_id));
      questions = [...questions, ...following.questions.filter((one) =>
        !questions.some((other) => other.question_id === one.question_id))];
      cursor = following.next_cursor;
      draw();
      items.get(first?.question_id)?.querySelector('a').focus();
    } catch (error) {
      if (error.name === 'AbortError') return;
      button.disabled = false;
      say(t(`said.${error.kind ?? 'server'}`));
    }
  }

  async function look() {
    const read = await page({audience, signal});
    const known = new Set(questions.map((one) => one.question_id));
    const merged = merge(questions, read);
    const added = wanted(merged).filter((one) => !known.has(one.question_id)).length;
    const changed = added > 0 || merged.length !== questions.length;
    // The cursor of the first page is the list's only while nothing below it has been read.
    if (merged.length === read.questions.length) cursor = read.next_cursor;
    questions = merged;
    draw();
    if (added > 0) say(t('feed.added', {n: added}));
    return changed;
  }

  follow(look, signal, again);
  answers.addEventListener('change', draw, {signal});
  draw();
  return add(h('div', {class: 'feed'}), heading(t('feed.title')), h('p', {class: 'lead'}, t('feed.lead')), welcome(),
    filter(audience), list, below);
}

/** follow calls look again and again while the page is seen, until the signal ends it; at once, or after a pause. */
function follow(look, signal, atOnce) {
  let pause = soonest;
  let timer = null;
  let looking = false;
  const plan = () => {
    clearTimeout(timer);
    if (!signal.aborted && document.visibilityState === 'visible') timer = setTimeout(run, pause);
  };
  const run = async () => {
    if (looking || signal.aborted) return;
    looking = true;
    try {
      pause = next(pause, {changed: await look()});
    } catch (error) {
      pause = next(pause, {after: error.after});
    }
    looking = false;
    plan();
  };
  const soon = () => {
    if (document.visibilityState !== 'visible') {
      clearTimeout(timer);
      return;
    }
    pause = soonest;
    run();
  };
  document.addEventListener('visibilitychange', soon, {signal});
  addEventListener('online', soon, {signal});
  signal.addEventListener('abort', () => clearTimeout(timer));
  if (atOnce) run();
  else plan();
}

/** welcome says to someone new what this is. */
function welcome() {
  if (kept('welcomed') || kept('answered')) return null;
  const section = h('section', {class: 'welcome', 'aria-labelledby': 'welcome'},
    h('h2', {id: 'welcome'}, t('welcome.title')), h('p', null, t('welcome.text')),
    h('p', {class: 'actions'}, link('/q/example', {class: 'button'}, t('welcome.example')),
      settings.firebase && link('/settings', {class: 'button'}, t('welcome.tell')),
      h('button', {type: 'button', class: 'plain', onclick: () => {
        write('welcomed', true);
        section.remove();
      }}, t('action.hide'))));
  return section;
}

function filter(audience) {
  const choice = (value, label) => h('li', null, link(value ? `/?audience=${value}` : '/',
    {class: 'chip', 'aria-current': value === audience ? 'true' : null}, label));
  return h('nav', {'aria-label': t('feed.filter')}, h('ul', {class: 'chips'}, choice('', t('audience.all')),
    audiences.map((one) => choice(one, t(`audience.${one}`)))));
}

function card(question) {
  return h('li', {class: 'card', 'data-question': question.question_id},
    link(address(question.question_id), {class: 'cover'},
      foreign('span', {class: 'foreign clamped'}, question.prompt)),
    h('p', {class: 'facts'}, facts(question)));
}

const update = (item, question) => put(item.querySelector('.facts'), facts(question));

/** facts are what one wants to know of a question before one opens it. */
export function facts(question) {
  return [
    (question.audience ?? []).map((one) => h('span', {class: `topic ${one}`}, t(`audience.${one}`))),
    h('span', {class: `kind ${question.type}`}, t(`type.${question.type}`)),
    question.responses_needed > 0 && h('span', null, t('feed.needed', {n: question.responses_needed})),
    worth(question.type) > 0 && h('span', {class: 'worth'}, t('feed.worth', {n: worth(question.type)})),
    question.created_at && h('span', null, h('time', {datetime: question.created_at}, ago(question.created_at))),
    question.expires_at && h('span', null, h('time', {datetime: question.expires_at},
      t('feed.closes', {time: ahead(question.expires_at)}))),
  ];
}

/** worth is the most that an answer to a question of that type earns, but for streaks and answers to a notification. */
function worth(type) {
  const {[type]: base = 0, long_text: long = 0, confidence = 0, early = 0} = settings.points ?? {};
  return base + (type === 'text' ? long : 0) + confidence + early;
}
