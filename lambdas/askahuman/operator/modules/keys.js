// Keys that lead through a list: j to the next item, k to the one before. What gets the focus of an item has data-item.

import {h} from '../../../kit/webapp/modules/dom.js';
import {t} from '../../../kit/webapp/modules/texts.js';

/** step gives the focus to the item that is so many after another one, or after the one with the focus. */
function step(by, from = document.activeElement) {
  const all = [...document.querySelectorAll('main [data-item]')];
  const last = all.findLastIndex((one) => one === from || from.closest('main') &&
    one.compareDocumentPosition(from) & Node.DOCUMENT_POSITION_FOLLOWING);
  const next = all[last + by];
  if (!next) return false;
  next.focus({preventScroll: true});
  (next.closest('li') ?? next).scrollIntoView({block: 'start'});
  return true;
}

/** beside gives the focus to the item after another one, or else to the one before. */
export function beside(item) {
  const own = item.querySelector('[data-item]');
  return own ? step(1, own) || step(-1, own) : step(1, item) || step(0, item);
}

/** hint says which keys there are, where there are items. */
export const hint = (items) => items.length > 1 && h('p', {class: 'hint keys'}, t('keys'));

addEventListener('keydown', (event) => {
  const by = {j: 1, k: -1}[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, select, textarea') ||
    document.querySelector('dialog[open]')) return;
  if (step(by)) event.preventDefault();
});
