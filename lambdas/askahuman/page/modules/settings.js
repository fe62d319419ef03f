// Language, notifications, and who one is.

import {data, question} from '../../../kit/webapp/modules/account.js';
import {frame} from '../../../kit/webapp/modules/app.js';
import {h, heading, put, say} from '../../../kit/webapp/modules/dom.js';
import {language} from '../../../kit/webapp/modules/language.js';
import {settings as stack} from '../../../kit/webapp/modules/settings.js';
import {read} from '../../../kit/webapp/modules/store.js';
import {t} from '../../../kit/webapp/modules/texts.js';
import {answers} from './answers.js';
import * as api from './api.js';
import {become, person} from './person.js';
import {picture} from './qr.js';
import {forget, renew} from './standing.js';

const intervals = [5, 15, 30, 60, 180, 720, 1440];

export async function show({reload, signal}) {
  return h('div', {class: 'settings'}, heading(t('settings.title')), language(reload), await notifications(reload),
    handle(), identity(reload, signal), data({
      read: api.data, more: lost(signal), async erase() {
        await api.deleteData();
        await be(undefined, 'settings.deleteDone', reload);
      },
    }));
}

async function notifications(reload) {
  if (!stack.firebase && !stack.inbox) return null;
  const push = await import('./push.js');
  const section = (...content) => h('section', {'data-push': ''}, h('h2', null, t('push.title')), content);
  if (!push.supported()) return section(h('p', null, t('push.unsupported')));
  const kept = read('push');
  const status = h('p', {role: 'status'});
  const interval = h('select', {id: 'interval', onchange: () => kept &&
    act(() => push.changeInterval(Number(interval.value)), 'push.changed')},
    intervals.map((minutes) => h('option', {value: String(minutes), selected: minutes === (kept?.minutes ?? 30)},
      minutes < 60 ? t('push.minutes', {n: minutes}) : t('push.hours', {n: minutes / 60}))));
  const button = h('button', {type: 'button', class: kept ? null : 'primary', onclick: () =>
    act(kept ? push.unsubscribe : () => push.subscribe(Number(interval.value)), kept ? 'push.off' : 'push.on')},
    t(kept ? 'push.unsubscribe' : 'push.subscribe'));

  async function act(work, done) {
    button.disabled = interval.disabled = true;
    status.textContent = t('push.working');
    try {
      await work();
      await reload();
      say(t(done));
    } catch (error) {
      status.textContent = t(error.kind === 'denied' ? 'push.denied' : 'push.failed');
      button.disabled = interval.disabled = false;
    }
  }

  return section(h('p', null, t(kept ? 'push.isOn' : 'push.isOff')), h('label', {for: 'interval'}, t('push.interval')),
    interval, h('p', {class: 'actions'}, button), status);
}

/** handle is the name on leaderboards. */
function handle() {
  const field = h('input', {id: 'handle', type: 'text', dir: 'auto', maxlength: '40', autocomplete: 'nickname',
    'aria-describedby': 'handle-said', disabled: true});
  const said = h('p', {id: 'handle-said', role: 'status'});
  const act = async (work, done) => {
    try {
      field.value = (await work()).handle;
      said.textContent = t(done);
      renew();
    } catch (error) {
      said.textContent = t(error.kind === 'refused' ? 'said.handleForm' : `said.${error.kind ?? 'server'}`);
    }
  };
  api.stats().then((stats) => {
    field.value = stats.handle;
    field.disabled = false;
  }).catch(() => { said.textContent = t('said.offline'); });
  return h('section', null, h('h2', null, t('settings.handle')), h('p', null, t('settings.handleText')),
    h('form', {novalidate: true, onsubmit: (event) => {
      event.preventDefault();
      act(() => api.chooseHandle(field.value), 'settings.handleKept');
    }}, h('label', {for: 'handle'}, t('settings.handleLabel')), field, said,
    h('p', {class: 'actions'}, h('button', {type: 'submit'}, t('settings.handleDo')),
      h('button', {type: 'button', class: 'plain', onclick: () => act(api.dropHandle, 'settings.handleDropped')},
        t('settings.handleDrop')))));
}

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$|^[0-9a-f]{32}$/;

/** be shows another id from now on. */
async function be(id, done, reload) {
  if (read('push')) {
    const push = await import('./push.js');
    await push.unsubscribe();
  }
  become(id);
  forget();
  await reload();
  frame();
  say(t(done));
}

function identity(reload, signal) {
  const confirm = question('reset', {title: t('settings.resetTitle'), text: t('settings.resetText'),
    yes: t('settings.resetDo'), more: lost(signal)}, () => be(undefined, 'settings.resetDone', reload));
  const problem = h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: true}, t('settings.anotherWrong'));
  // A code leads here, with the id where no server sees it.
  const given = new URLSearchParams(location.hash.slice(1)).get('id');
  if (given) history.replaceState(history.state, '', location.pathname);
  const field = h('input', {id: 'another', type: 'text', value: given ?? '', autocomplete: 'off', autocapitalize: 'off',
    spellcheck: 'false', 'aria-describedby': 'problem', oninput: () => { problem.hidden = true; }});
  const other = h('details', {open: Boolean(given)}, h('summary', null, t('settings.another')),
    h('form', {novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    const id = field.value.trim().toLowerCase();
    if (form.test(id)) be(id, 'settings.anotherDone', reload);
    else {
      problem.hidden = false;
      field.focus();
    }
  }}, h('p', null, t('settings.anotherText')), lost(signal), h('label', {for: 'another'}, t('settings.anotherLabel')),
    field, problem,
  h('p', {class: 'actions'}, h('button', {type: 'submit'}, t('settings.anotherDo')))));

  return h('section', null, h('h2', null, t('settings.identity')), h('p', null, t('settings.identityText')),
    h('p', {class: 'identity'}, h('code', {id: 'person'}, person()), ' ',
      h('button', {type: 'button', onclick: async () => {
      await navigator.clipboard.writeText(person());
      say(t('settings.copied'));
    }}, t('settings.copy'))),
    h('details', null, h('summary', null, t('settings.code')), h('p', null, t('settings.codeText')),
      picture(`${location.origin}/settings#id=${person()}`, t('settings.codeName'))),
    other,
    h('p', {class: 'actions'}, h('button', {type: 'button', class: 'danger', onclick: () => confirm.showModal()},
      t('settings.reset'))), confirm);
}

/** lost says what waits to be sent, and is lost with the id. */
function lost(signal) {
  const said = h('p');
  const draw = () => {
    const n = answers.waiting().length;
    said.hidden = n === 0;
    put(said, t('settings.resetWaiting', {n}));
  };
  answers.addEventListener('change', draw, {signal});
  draw();
  return said;
}
