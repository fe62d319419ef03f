// SQL on the lakes, with a table and a chart.

import {get, post} from '../api.js';
import {field, h, problem, put, select, svg, table} from '../dom.js';
import {cut, number, plural, took} from '../format.js';
import {keep, kept} from '../kept.js';

export const name = 'lake';
export const title = 'Lake';

const most = 300;

// A history has no more statements than this: the oldest leave it.
const mostStatements = 20;

export async function show({parameters, signal, go}) {
  const lakes = await get('/lakes', null, signal);
  if (lakes.length === 0) return [h('h1', {tabindex: '-1'}, title),
    h('p', {class: 'empty'}, 'No stack of the run has a lake.')];
  const keyOf = (lake) => `${lake.stack} ${lake.database}`;
  const chosen = select(lakes.map((lake) => [keyOf(lake), `${lake.database} of ${lake.stack}`]),
    parameters.get('lake') ?? keyOf(lakes[0]));
  const lake = () => lakes.find((one) => keyOf(one) === chosen.value) ?? lakes[0];
  const sql = h('textarea', {rows: '5', spellcheck: 'false', 'aria-label': 'SQL'});
  const saved = h('select');
  const history = h('select');
  const described = h('p', {class: 'muted'});
  const content = h('div');
  const result = h('div', {'aria-live': 'polite'});

  // The tab keeps of each lake the text that is being written, and the statements that ran, the newest first.
  const named = (what) => `lake ${what} ${chosen.value}`;
  // What someone wrote comes back after a look at the history.
  let draft = '';
  const write = (text) => {
    sql.value = text;
    keep(named('sql'), text);
  };
  const remember = (text) => {
    const others = kept(named('history'), []).filter((one) => one !== text);
    keep(named('history'), [text, ...others].slice(0, mostStatements));
  };
  const list = () => {
    const statements = kept(named('history'), []);
    put(history, h('option', {value: ''}, statements.length > 0 ? 'what you write' : 'none ran yet'),
      statements.map((text) => h('option', {value: text}, cut(text.replace(/\s+/g, ' ').trim(), 80))));
  };

  const choose = () => {
    const {queries, tables, views} = lake();
    put(saved, h('option', {value: ''}, 'of your own'),
      queries.map((query) => h('option', {value: query.name}, query.name)));
    put(described);
    const first = views[0] ?? tables[0];
    sql.value = kept(named('sql'), first ? `SELECT * FROM ${first.name} LIMIT 100` : 'SELECT 1');
    draft = sql.value;
    list();
    put(content, h('h2', {style: {'margin-top': '0'}}, 'What there is'),
      [...tables.map((one) => ['Table', one, [...one.columns, ...one.partition_keys]]),
        ...views.map((one) => ['View', one, one.columns])]
        .map(([kind, one, columns]) => h('details', null, h('summary', null, `${kind} `, h('strong', null, one.name)),
          h('dl', null, columns.map((column) =>
            [h('dt', null, column.name), h('dd', null, h('code', null, column.type))])))));
  };
  chosen.addEventListener('change', () => {
    go(`#/lake?lake=${encodeURIComponent(chosen.value)}`, {replace: true});
    put(result);
    choose();
  });
  saved.addEventListener('change', () => {
    const query = lake().queries.find((one) => one.name === saved.value);
    if (!query) return;
    draft = query.sql;
    write(draft);
    put(described, query.description);
  });
  history.addEventListener('change', () => write(history.value || draft));
  sql.addEventListener('input', () => {
    draft = sql.value;
    history.value = '';
    keep(named('sql'), draft);
  });

  let running = null;
  const cancel = h('button', {type: 'button', disabled: true, onclick: () => running?.abort()}, 'Cancel');
  const run = async () => {
    running?.abort();
    const own = running = new AbortController();
    const began = performance.now();
    put(result, h('p', {class: 'muted'}, 'The query runs …'));
    cancel.disabled = false;
    get('/lakes/engine', null, own.signal).then(({ready}) => {
      if (!ready && running === own) put(result, h('p', {class: 'note'}, 'Building DuckDB once, about a minute. ',
        'Then the query runs.'));
    }, () => { /* the query says what is wrong */ });
    draft = sql.value;
    remember(draft);
    list();
    try {
      const answer = await post('/lakes/query', {database: lake().database, stack: lake().stack, sql: sql.value, most},
        AbortSignal.any([signal, own.signal]));
      const time = took(answer.took_ms);
      const whole = performance.now() - began;
      put(result, answer.cut && h('p', {class: 'muted'},
        `${plural(answer.cut, 'value is', 'values are')} longer than 64 KB, and cut there.`), chart(answer), table({
        caption: (answer.more ? `The first ${answer.rows.length} rows` : plural(answer.rows.length, 'row')) +
          `, in ${time}` + (whole > 2 * answer.took_ms + 50 ? `; ${took(whole)} with reading the lake` : ''),
        rows: answer.rows, named: false, empty: `No row, in ${time}.`,
        columns: answer.columns.map((column, i) =>
          ({label: column.name, number: isNumber(column.type), cell: (row) =>
            (row[i] === null ? h('span', {class: 'muted'}, 'null')
              : h('span', {class: 'cut', title: row[i].length > 60 ? row[i] : null}, row[i]))})),
      }));
    } catch (error) {
      if (running !== own) return;
      if (error.name !== 'AbortError') put(result, problem(error, 'The query failed.'));
      else if (own.signal.aborted) put(result,
        h('p', {class: 'muted'}, `The query was cancelled after ${took(performance.now() - began)}.`));
    } finally {
      if (running === own) {
        running = null;
        cancel.disabled = true;
      }
    }
  };
  sql.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  choose();
  return [
    h('h1', {tabindex: '-1'}, title),
    h('div', {class: 'split'},
      h('form', {onsubmit: (event) => {
        event.preventDefault();
        run();
      }}, field('Lake', chosen, 'wide'), field('Saved query', saved, 'wide'),
      field('History', history, 'wide'), h('div', {style: {flex: '1 1 100%'}}, described, sql),
      h('button', {class: 'primary'}, 'Run'), cancel,
        h('span', {class: 'muted'},
          'or Ctrl+Enter. A query reads the lake as it is now, and answers as Amazon Athena does.')),
      h('section', {class: 'card', 'aria-label': 'Tables and views'}, content)),
    result,
  ];
}

const isNumber = (type) => /INT|DOUBLE|FLOAT|DECIMAL|REAL/.test(type);

/** chart draws columns of numbers against another column, if the answer has both. */
function chart(answer) {
  const numeric = answer.columns.map((column, i) => ({...column, i})).filter((column) => isNumber(column.type));
  if (numeric.length === 0 || answer.rows.length < 2) return null;
  const all = answer.columns.map((column, i) => [String(i), column.name]);
  const along = answer.columns.findIndex((column) => !isNumber(column.type));
  const temporal = along >= 0 && /DATE|TIME/.test(answer.columns[along].type);
  const kind = select(['none', ...(temporal ? ['line', 'bars'] : ['bars', 'line'])], 'none');
  const x = select(all, String(Math.max(along, 0)));
  const y = select(numeric.map((column) => [String(column.i), column.name]),
    String(numeric.find((column) => column.i !== Math.max(along, 0))?.i ?? numeric[0].i));
  const place = h('div');
  const draw = () => put(place, kind.value === 'none' ? null
    : drawing(answer, Number(x.value), Number(y.value), kind.value));
  for (const control of [kind, x, y]) control.addEventListener('change', draw);
  draw();
  return [h('h2', null, 'Chart'), h('div', {class: 'bar'}, field('Chart', kind), field('Along', x),
    field('Of', y)), place];
}

function drawing(answer, x, y, kind) {
  let points = answer.rows.map((row) => ({label: row[x] ?? 'null', value: Number(row[y])}))
    .filter((point) => Number.isFinite(point.value));
  const left = points.length;
  points = points.slice(0, 100);
  if (points.length === 0) return h('p', {class: 'empty'}, 'There is no number to draw.');
  if (kind === 'line') points.sort((a, b) => (a.label < b.label ? -1 : 1));
  const width = 900, height = 280, at = {left: 64, right: 16, top: 16, bottom: 56};
  const low = Math.min(0, ...points.map((point) => point.value)),
    high = Math.max(0, ...points.map((point) => point.value)) || 1;
  const across = (i) => at.left + ((i + 0.5) * (width - at.left - at.right)) / points.length;
  const up = (value) => at.top + ((high - value) * (height - at.top - at.bottom)) / (high - low);
  const step = (width - at.left - at.right) / points.length;
  const every = Math.ceil(points.length / 9);
  const marks = kind === 'bars'
    ? points.map((point, i) => svg('rect', {class: 'mark', x: across(i) - step * 0.36, width: Math.max(1, step * 0.72),
      y: Math.min(up(0), up(point.value)), height: Math.max(0.5, Math.abs(up(0) - up(point.value)))},
        svg('title', null, `${point.label}: ${number(point.value)}`)))
    : [svg('polyline', {class: 'stroke', points: points.map((point, i) =>
      `${across(i)},${up(point.value)}`).join(' ')}),
      points.map((point, i) => svg('circle', {class: 'mark', cx: across(i), cy: up(point.value), r: 3},
        svg('title', null, `${point.label}: ${number(point.value)}`)))];
  const top = points.reduce((a, b) => (b.value > a.value ? b : a));
  const least = Math.min(...points.map((point) => point.value));
  const words = `${answer.columns[y].name} along ${answer.columns[x].name}: ${plural(points.length, 'value')}, ` +
    `from ${number(least)} to ${number(top.value)} at ${top.label}. The table below has all values.`;
  return [svg('svg', {class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': words},
    [0, 0.25, 0.5, 0.75, 1].map((share) => {
      const value = low + share * (high - low);
      return [svg('line', {class: 'grid', x1: at.left, x2: width - at.right, y1: up(value), y2: up(value)}),
        svg('text', {x: at.left - 8, y: up(value) + 4, 'text-anchor': 'end'}, number(value))];
    }),
    marks,
    svg('line', {class: 'axis', x1: at.left, x2: width - at.right, y1: up(0), y2: up(0)}),
    points.map((point, i) => (i % every === 0 ? svg('text',
      {x: across(i), y: height - at.bottom + 20, 'text-anchor': 'middle'}, point.label.length > 14
        ? `${point.label.slice(0, 13)}…` : point.label) : null)),
    svg('text', {x: (at.left + width - at.right) / 2, y: height - 8, 'text-anchor': 'middle'},
      `${answer.columns[y].name} along ${answer.columns[x].name}`)),
  left > points.length && h('p', {class: 'muted'}, `The chart has the first ${points.length} of ${left} values.`)];
}
