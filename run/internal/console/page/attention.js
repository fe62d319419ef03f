// What needs a look: counts in the menu, and a banner while faults are on.

import {get, post} from './api.js';
import {action, h, put} from './dom.js';
import {number} from './format.js';
import {every} from './live.js';

/** look looks at once, after a change. */
export let look = async () => {};

/** start looks now and again. changed is called when the banner has turned the faults off. */
export function start(nav, banner, changed) {
  let shown = '';
  look = async () => {
    const found = await get('/attention');
    const counts = {faults: [found.faults.length, 'on'], queues: [found.dead_letters, 'dead-lettered'],
      schedules: [found.failed_schedules, 'failed'], permissions: [found.refused_permissions, 'refused']};
    for (const [view, [n, what]] of Object.entries(counts)) {
      const link = nav.querySelector(`[data-view=${view}]`);
      link.querySelector('.count')?.remove();
      if (n > 0) link.append(h('span', {class: 'count badge bad'}, number(n),
        h('span', {class: 'hidden'}, ` ${what}`)));
    }
    const faults = found.faults.join(', ').replaceAll('_', ' ');
    if (faults === shown) return;
    shown = faults;
    banner.hidden = !faults;
    put(banner, faults && [h('strong', null, `Faults are on: ${faults}`), action('Turn off', async () => {
      await post('/faults', {});
      await look();
      changed();
    }, {key: 'faults-off'})]);
  };
  look().catch(() => { /* the next one tries again */ });
  every(3000, look, new AbortController().signal);
}
