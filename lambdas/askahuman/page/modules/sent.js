// The answer that was sent last, above each view: for a moment it can be taken back, and then it says what it did.

import {tell} from '../../../kit/webapp/modules/app.js';
import {add, foreign, h, say} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import {answers} from './answers.js';
import {badge, step} from './badges.js';

/** undo is how long an answer can be taken back, in ms. */
const undo = 5_000;

const still = matchMedia('(prefers-reduced-motion: reduce)');

/** shown is what is shown: of which answer, what offers to take it back, and whether that still does. */
let shown = nothing();

function nothing() { return {id: null, undo: null, offers: false, hide() {}}; }

/** hide shows nothing more of an answer, by default of the last one. */
export function hide(id = shown.id) {
  if (id !== shown.id) return;
  const {hide: remove} = shown;
  shown = nothing();
  remove();
}

function show(id, text, {undo: part = null, more = null} = {}) {
  hide();
  shown = {id, undo: part, offers: Boolean(part), hide: tell(text, [part, more])};
}

/** underWay reports whether an answer is shown of which nothing has been heard. */
export const underWay = (id) => shown.id === id;

/**
 * send keeps an answer. It can be taken back for a moment, unless it is urgent; back is called when it was. An answer
 * that could be taken back before goes at once.
 */
export function send(entry, {urgent, back}) {
  if (shown.offers) answers.deliver(shown.id);
  if (urgent) {
    show(entry.id, t('question.sent'));
    answers.keep(entry);
    answers.deliver(entry.id);
    return;
  }
  const left = h('span', {class: 'left'});
  show(entry.id, t('question.sent'), {undo: h('span', {class: 'undoing'}, h('button', {type: 'button', onclick: () => {
    if (!answers.takeBack(entry.id)) return;
    hide();
    back();
  }}, t('action.undo')), left)});
  answers.keep(entry, undo);
  if (!still.matches) left.animate({inlineSize: ['100%', '0']}, {duration: undo, fill: 'forwards'});
}

answers.addEventListener('change', () => {
  if (!shown.offers || answers.find(shown.id)?.attempted === false) return;
  // It is on its way, and cannot be taken back any more.
  shown.undo.style.visibility = 'hidden';
  shown.offers = false;
});

// The server cannot be reached: the page says that an answer waits.
answers.addEventListener('delayed', ({detail: {entry}}) => entry && hide(entry.id));

/** arrived says what an answer has earned, unless a later one can still be taken back. */
export function arrived({id, options}, receipt) {
  const text = receipt.late ? said(receipt) : t('thanks.points', {n: receipt.points_earned});
  const did = h('details', {class: 'did'}, h('summary', null, t('thanks.more')), earned(receipt, options));
  if (!shown.offers || shown.id === id) {
    // As high as what stood there: nothing that someone is about to press moves.
    const before = shown.undo?.closest('.notice');
    if (before) {
      const {paddingBlockStart: start, paddingBlockEnd: end} = getComputedStyle(before);
      did.style.minBlockSize =
        `${before.getBoundingClientRect().height - Number.parseFloat(start) - Number.parseFloat(end)}px`;
    }
    show(id, text, {more: did});
  } else if (receipt.new_badges.length > 0) {
    tell(text, did);
  }
  say(said(receipt));
}

/** said is what a receipt says in a sentence. */
export const said = ({late, points_earned: n}) => t(late ? 'thanks.late' : 'thanks.said', {n});

/** earned is what an answer has led to, besides its points. */
export const earned = (receipt, options) => add(h('div', {class: 'earned'}),
  receipt.new_badges.length > 0 && [h('h2', null, t('thanks.badges', {n: receipt.new_badges.length})),
    h('ul', {class: 'badges'}, receipt.new_badges.map(badge))],
  !receipt.late && receipt.answers > 0 && h('p', null,
    receipt.completed ? t('thanks.completed') : t('thanks.answers', {n: receipt.answers})),
  receipt.option_shares && shares(receipt.option_shares, options),
  receipt.next_badge && [h('h2', null, t('thanks.next_badge')),
    h('ul', {class: 'badges'}, step(receipt.next_badge))]);

/** shares says how many chose each option. */
const shares = (percents, options) => h('ul', {class: 'shares'}, percents.map((n, at) => h('li', null,
  foreign('span', {class: 'foreign'}, options?.[at] ?? String(at + 1)),
    h('progress', {max: '100', value: String(n), 'aria-hidden': 'true'}), h('span', null, t('thanks.share', {n})))));
