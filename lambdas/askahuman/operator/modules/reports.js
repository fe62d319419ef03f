// What was reported, or what operators decided about it.

import {add, foreign, h, heading, link, put, say} from '../../../kit/webapp/modules/dom.js';
import {ago, t} from '../../../kit/webapp/modules/texts.js';
import * as api from './api.js';
import {doing} from './doing.js';
import {hiding} from './hiding.js';
import {beside, hint} from './keys.js';
import {decided, known} from './open.js';

export const states = ['open', 'hidden', 'dismissed'];

/** orders sort the reports that are shown. The server has the last reported first. */
export const orders = {
  newest: () => 0,
  most: (one, other) => other.complaints.length - one.complaints.length,
};

export async function show({parameters, signal}) {
  const shown = states.includes(parameters.get('show')) ? parameters.get('show') : 'open';
  const order = Object.hasOwn(orders, parameters.get('order')) ? parameters.get('order') : 'newest';
  const first = await api.reports({state: shown, signal});
  if (shown === 'open') known(first);
  let {reports, next_cursor: cursor} = first;
  const list = h('ul', {class: 'cards'});
  const below = h('div', {class: 'actions'});
  const items = new Map();

  function draw() {
    const sorted = reports.toSorted(orders[order]);
    for (const report of sorted) {
      if (!items.has(report.report_id)) items.set(report.report_id, card(report, shown, settle));
      list.append(items.get(report.report_id));
    }
    end();
  }

  /** end draws what stands below the list. */
  function end() {
    put(below, reports.length === 0 && h('p', {class: 'empty'}, t(`none.${shown}`)),
      cursor && doing(t('reports.more'), () => api.reports({state: shown, cursor, signal}), (read) => {
        const known = new Set(reports.map((one) => one.report_id));
        const further = read.reports.filter((one) => !known.has(one.report_id));
        reports = [...reports, ...further];
        cursor = read.next_cursor;
        draw();
        items.get(further[0]?.report_id)?.querySelector('h2').focus();
      }, {'data-item': true}));
  }

  /**
   * settle takes a report out of the list that is now among others. It says so, and leads to the next one, unless the
   * operator is elsewhere by now.
   */
  function settle(report, said, focused = true) {
    const item = items.get(report.report_id);
    if (focused && !beside(item)) document.querySelector('h1').focus();
    reports = reports.filter((one) => one !== report);
    items.delete(report.report_id);
    item.remove();
    if (reports.length === 0) end();
    if (focused) say(t(said));
    if (shown === 'open') decided(-1);
    else if (said === 'report.reopened') decided(1);
  }

  draw();
  return add(h('div', {class: 'reports'}), heading(t('reports.title')), h('p', {class: 'lead'}, t('reports.lead')),
    choice(t('reports.which'), states, shown, (one) => ({show: one, order}), (one) => t(`show.${one}`)),
    choice(t('reports.order'), Object.keys(orders), order, (one) => ({show: shown, order: one}),
      (one) => t(`order.${one}`)),
    hint(reports), list, below);
}

function choice(label, values, chosen, parameters, name) {
  const entry = (one) => h('li', null, link(`/operator?${new URLSearchParams(parameters(one))}`,
    {class: 'chip', 'aria-current': one === chosen ? 'true' : null}, name(one)));
  return h('nav', {'aria-label': label}, h('ul', {class: 'chips'}, values.map(entry)));
}

function card(report, shown, settle) {
  const answer = report.response_id !== undefined;
  const named = report.handle !== undefined;
  const gone = report.prompt === undefined && !named;
  const what = answer ? 'answer' : named ? 'name' : 'question';
  const item = h('li', {class: 'card report', 'data-report': report.report_id});
  const hide = () => hiding(item, {label: t(`hide.${what}`), id: report.report_id, of: report,
    said: t('report.hidden'), done: (focused) => settle(report, 'report.hidden', focused)});
  const unhide = () => doing(t(`unhide.${what}`), () => api.hide(report, false),
    () => settle(report, 'report.shown'));
  const dismiss = (dismissed) => doing(t(dismissed ? 'report.dismiss' : 'report.reopen'),
    () => api.dismiss(report, dismissed),
    () => settle(report, dismissed ? 'report.dismissed' : 'report.reopened'));
  const agent = report.agent_id && `/operator/agent?${new URLSearchParams({id: report.agent_id})}`;
  return add(item,
    h('h2', {tabindex: '-1', 'data-item': true}, t(`report.${what}`)),
    named ? name(report) : gone ? h('p', null, t('report.gone')) :
      [foreign('blockquote', {class: 'foreign'}, report.prompt), options(report)],
    answer && !gone && [h('h3', null, t('report.said')), foreign('blockquote', {class: 'foreign said'}, said(report))],
    h('p', {class: 'facts'}, report.hidden && h('span', {class: 'badge'}, t('report.isHidden')),
      h('span', null, h('time', {datetime: report.reported_at}, ago(report.reported_at))),
      report.decided_by && h('span', null, t('report.decided', {name: report.decided_by}))),
    complaints(report.complaints),
    h('div', {class: 'actions'},
      gone || named ? null : report.hidden ? unhide() : hide(),
      named && shown === 'open' && !report.name_reset && take(report, settle),
      shown === 'dismissed' ? dismiss(false) : shown === 'open' ? dismiss(true) : null,
      agent && link(agent, {class: 'button'}, t('report.agent'))),
    report.person && person(report));
}

/** name is what was reported, and what the person is called now. */
const name = ({handle, current_handle: current = handle, name_reset: reset = false}) => [
  foreign('blockquote', {class: 'foreign'}, handle),
  reset ? h('p', null, t('names.isReset')) : current !== handle && h('p', null, t('report.nameNow'), ' ',
    foreign('span', {class: 'foreign'}, current))];

/** take takes the name away that the person has, which settles the report. */
const take = (report, settle) => doing(t('names.reset'), async () => {
  await api.resetHandle(report.person, true, report.person_version ?? 0);
  await api.dismiss(report, true);
}, () => settle(report, 'names.isReset'), {class: 'danger'});

/** said is an answer as a text: its own, or that of the option. */
const said = (report) => report.answer ?? report.options?.[report.selected_option] ?? '';

const options = (report) => report.options?.length > 0 && h('ul', {class: 'options', 'aria-label': t('report.options')},
  report.options.map((one) => foreign('li', {class: 'foreign'}, one)));

function complaints(all) {
  if (all.length === 0) return h('p', {class: 'hint'}, t('report.unreported'));
  const entry = (one) => h('li', null, h('strong', null, t(`reason.${one.reason}`)), ' ',
    h('span', {class: 'when'}, t(`by.${one.by}`), ' · ', ago(one.at)),
    one.comment && foreign('p', {class: 'foreign'}, one.comment));
  return h('details', {open: all.length < 4}, h('summary', null, t('report.complaints', {n: all.length})),
    h('ul', {class: 'complaints'}, all.map(entry)));
}

/** person blocks who answered, or has the name. */
function person(report) {
  const {person: id, person_blocked: blocked = false} = report;
  const outcome = h('p', {role: 'status'}, blocked && t('person.blocked'));
  const block = (blocked) => doing(t(blocked ? 'person.block' : 'person.lift'),
    () => api.blockPerson(id, blocked, report.person_version ?? 0),
    () => {
      report.person_version = (report.person_version ?? 0) + 1;
      put(outcome, t(blocked ? 'person.blocked' : 'person.lifted'));
    }, {class: blocked ? 'danger' : null});
  return h('details', {class: 'person'},
    h('summary', null, t(report.handle === undefined ? 'person.title' : 'person.named')),
    h('p', null, t('person.text')),
    h('div', {class: 'actions'}, block(true), block(false)), outcome);
}
