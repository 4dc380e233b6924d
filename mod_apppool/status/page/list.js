// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The applications, a line for each.

const POINTS = 36; // base of a digit of a sparkline

// The sort keys, and the heads of the columns: key, head, what it is, css.
const COLUMNS = [
  ['shown', 'Application', 'name and Unix user', 'w'],
  ['state', 'State', 'what it does now', 'st'],
  ['size', 'Processes', 'processes that take requests, and how many are busy',
    'n opt pr'],
  ['queue', 'Queue', 'requests that wait for a process', 'n opt'],
  ['rate', 'Requests', 'requests a second, over the last minute', 'n'],
  ['errors', '5xx', 'errors in the last minute', 'n'],
  ['p95', '95 %', 'response time within which 95 % of the requests of five ' +
    'minutes ended', 'n opt'],
  ['memory', 'Memory', 'of all its processes', 'n opt'],
  ['cpu', 'CPU', 'processors that it used in the last minute', 'n opt'],
  ['spark', '10 min', 'requests in the last ten minutes', 'sp']
];

// The number of columns that are seen: page.css hides the others.
function seenColumns() {
  const some = COLUMNS.filter(one => !/opt/.test(one[3])).length;
  return TINY.matches ? some - 1 : MEDIUM.matches || view.app ? some
    : COLUMNS.length;
}

// What a line says of an application first: a problem comes before a state that
// looks well.
function wordOf(row) {
  return row.state === 'running' && row.problem || row.state;
}

// The short names of applications that have one, by the names of their groups.
const labels = new Map();

function appName(app) {
  return name(labels.get(app) || app);
}

// The last name of a path, before "/current" and before an environment.
const SHORT = /([^\/]+?)(\/current)?( \([^()]*\))?$/;

// "shop" for "/srv/shop/current (production)", unless another application is
// "shop" already.
function shortName(app, taken) {
  const short = app[0] === '/' && SHORT.exec(app);
  if (!short || taken.has(short[1])) return app;
  taken.add(short[1]);
  labels.set(app, short[1]);
  return short[1];
}

// The rows of the document as objects.
function rowsOf(doc) {
  const columns = doc.columns || [], wrong = new Map(), taken = new Set();
  labels.clear();
  for (const one of doc.problems || [])
    if (one.app && !wrong.has(one.app)) wrong.set(one.app, one.text);
  return (doc.rows || []).map((values, place) => {
    const row = {place};
    columns.forEach((key, i) => row[key] = values[i]);
    row.shown = shortName(row.name, taken);
    row.why = wrong.get(row.name);
    row.lower = [row.name, row.tenant, row.state].join(' ').toLowerCase();
    return row;
  });
}

// ---- the tools above the list

function options(all, chosen) {
  return all.map(([value, text]) => h('option', {value,
    selected: value === chosen}, text));
}

function select(id, label, all, css) {
  return h('label', {class: css || null}, label, ' ',
    h('select', {id, 'data-view': id, '.value': view[id]},
      options(all, view[id])));
}

// The values that rows have, and the one that is chosen.
function distinct(rows, key) {
  return [...new Set([...rows.map(row => row[key]), view[key] !== 'problems' &&
    view[key]].filter(Boolean))].sort();
}

function tools(rows, shown) {
  const tenants = distinct(rows, 'tenant');
  const pairs = all => all.map(one => [one, safe(one)]);
  return h('form', {id: 'tools', role: 'search',
    'aria-label': 'Applications'},
  h('label', null, 'Search ', h('input', {id: 'q', type: 'search',
    'data-view': 'q', '.value': view.q, placeholder: 'name, user or state',
    autocomplete: 'off', spellcheck: 'false'})),
  select('state', 'State', [['', 'all'], ['problems', 'with problems'],
    ...pairs(distinct(rows, 'state'))]),
  (tenants.length > 1 || view.tenant) && select('tenant', 'User',
    [['', 'all'], ...pairs(tenants)]),
  select('sort', 'Sort', [['', 'as configured'],
    ...COLUMNS.filter(one => one[0] !== 'spark').map(one =>
      [one[0], one[1]])], 'narrow'),
  h('span', {class: 'dim', role: 'status'}, shown === rows.length
    ? many(shown, 'application')
    : count(shown) + ' of ' + many(rows.length, 'application')));
}

// ---- a line

// One path: a bar for each digit.
function bars(digits, css) {
  let path = '';
  for (let i = 0; i < digits.length; i++) {
    const value = parseInt(digits[i], POINTS);
    if (value > 0) path += 'M' + (i + .5) + ' 36V' + (35.5 - value);
  }
  return h('path', {class: css, d: path});
}

function spark(row) {
  if (!row.spark) return null;
  return h('svg', {viewBox: '0 0 ' + row.spark.length + ' 36', class: 'spark',
    preserveAspectRatio: 'none', role: 'img', 'aria-label':
    'at most ' + rate(row.peak)},
  bars(row.spark, 'bar'), row.spark_bad && bars(row.spark_bad, 'bar bad'));
}

function sizeCell(row) {
  const busy = (row.busy || 0) + (row.hung || 0);
  return row.size || row.spawning ? count(row.size) + (row.max ? ' of ' +
    count(row.max) : '') + (busy ? ', ' + count(busy) + ' busy' : '') : NONE;
}

function cells(row) {
  const number = (text, css) => h('td', {class: 'n ' + (css || '')}, text);
  return [
    h('td', null, badge(wordOf(row))),
    number(sizeCell(row), 'opt'),
    number(row.queue ? count(row.queue) : NONE, row.queue ? 'opt warn' : 'opt'),
    number(row.rate ? rate(row.rate) : NONE),
    number(row.errors ? count(row.errors) : NONE, row.errors ? 'bad' : ''),
    number(span(row.p95), 'opt'),
    number(row.memory ? bytes(row.memory) : NONE, 'opt'),
    number(row.cpu >= .005 ? processors(row.cpu) : NONE, 'opt'),
    h('td', {class: 'sp'}, spark(row))];
}

function rowOf(row) {
  const current = view.app === row.name;
  return h('tr', {key: row.name, class: current ? 'current' : null},
    h('th', {scope: 'row'},
      h('a', {href: link({app: row.name}), 'data-do': 'open',
        'aria-current': current ? 'true' : null, title: safe(row.name)},
      name(row.shown)),
      row.tenant && h('small', null, ' ', name(row.tenant)),
      row.why && h('small', {class: 'bad opt'}, ' ', safe(row.why))),
    cells(row));
}

// ---- the table

function head([key, text, title, css]) {
  const on = view.sort.replace(/^-/, '') === key;
  const down = view.sort[0] === '-';
  const up = key === 'shown' || key === 'state' ? 'ascending' : 'descending';
  const other = up === 'ascending' ? 'descending' : 'ascending';
  return h('th', {scope: 'col', class: css || null,
    'aria-sort': on ? down ? other : up : null},
  key === 'spark' ? h('span', {title}, text) : h('button', {type: 'button',
    id: 'sort-' + key, title, 'data-do': 'sort', 'data-value':
      on ? down ? '' : '-' + key : key},
  text + (on ? (down ? other : up) === 'ascending' ? ' \u2191' : ' \u2193'
    : '')));
}

function part([key, title], rows) {
  const limit = opened(key, liveRows.length);
  const rest = rows.length - limit;
  if (!rows.length) return null;
  return h('tbody', {key, id: 'part-' + key},
    h('tr', {class: 'part', key: ' head'}, h('th', {colspan: seenColumns(),
      scope: 'rowgroup'}, h('button', {type: 'button', 'data-do': 'fold',
      id: 'fold-' + key, 'data-value': openWith(key, limit ? 0 : STEP),
      'aria-expanded': limit ? 'true' : 'false'},
    (limit ? '\u25be ' : '\u25b8 ') + title + ': ' + count(rows.length)))),
    rows.slice(0, limit).map(rowOf),
    limit > 0 && rest > 0 && h('tr', {class: 'part', key: ' rest'},
      h('td', {colspan: seenColumns()}, h('button', {type: 'button',
        'data-do': 'fold', id: 'more-' + key,
        'data-value': openWith(key, limit + STEP)},
      'Show ' + count(Math.min(STEP, rest)) + ' more of ' + count(rest)))));
}

let liveRows = []; // of the last document

function list(rows) {
  const parts = sorted(rows);
  const shown = Object.values(parts).reduce((n, one) => n + one.length, 0);
  liveRows = rows;
  return h('section', {key: 'list', id: 'list',
    'aria-label': 'Applications'},
  tools(rows, shown),
  rows.length === 0 ? h('p', null, 'No application is configured.')
    : shown === 0 ? h('p', null, 'No application matches.')
      : h('table', {class: 'apps'},
        h('caption', {class: 'hidden'}, 'Applications'),
        h('thead', null, h('tr', null, COLUMNS.map(head))),
        PARTS.map(one => part(one, parts[one[0]]))));
}
