// The day that begins while the page is open.

import {day} from '../../../kit/webapp/modules/texts.js';

/** turning calls back on each new day, until the signal ends it: at midnight, or when a device that slept wakes up. */
export function turning(call, signal) {
  let today = day(), timer = null;
  function look() {
    clearTimeout(timer);
    if (day() !== today) {
      today = day();
      call();
    }
    // Timers may stand still while a device sleeps.
    timer = setTimeout(look, Math.min(60_000, new Date().setHours(24, 0, 0, 0) - Date.now()));
  }
  look();
  document.addEventListener('visibilitychange', look, {signal});
  signal.addEventListener('abort', () => clearTimeout(timer));
}
