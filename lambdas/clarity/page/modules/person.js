// Who trains here: the person who is signed in in this tab.

import {entrance} from '../../../kit/webapp/modules/entrance.js';

export const {me, behind, call, own, leave} = await entrance({
  // changed: the attempt has another version. over: it is no longer in progress, or its evaluation is running.
  kinds: {409: 'over', 412: 'changed'},
});
