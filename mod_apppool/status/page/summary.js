// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The upper part of the page: which host, what is wrong, and the totals. The
// lower part: events and counters.

const RECENT = 12; // events that are shown; older ones are folded
const MANY = 10; // problems; the rest is folded
const SUSPENDED = 'WebSockets and event streams that hold no worker of httpd';

// ---- the head

function hostOf(server) {
  const parts = [server.host && h('b', null, name(server.host)),
    server.server_name && server.server_name !== server.host &&
      name(server.server_name),
    server.version && 'mod_apppool ' + safe(server.version),
    server.httpd && safe(server.httpd),
    known(server.uptime) && h('span', {title: 'httpd was started at ' +
      day(server.started)}, 'up ' + span(server.uptime))];
  return parts.filter(Boolean).map((part, i) => [i > 0 && ' \u00b7 ', part]);
}

// "29 Nov 14:03:27 +01:00"
function day(when) {
  const ms = Date.parse(when);
  return isFinite(ms) ? new Date(ms + clock.offset).toUTCString().slice(5, 11) +
    ' ' + time(when) + ' ' + clock.zone : NONE;
}

// ---- what is wrong

function problem(one, i) {
  const text = h('span', {class: 'why'}, safe(one.text));
  return h('li', {key: (one.app || '') + ' ' + one.kind + i},
    one.app && [h('a', {href: link({app: one.app}), 'data-do': 'open'},
      appName(one.app)), ' '],
    h('span', {class: 's ' + String(one.kind).replace(/\W/g, '')},
      safe(one.kind).replace('_', ' ')), ' ', text);
}

// total: there are more than are listed, if there are very many
function problems(all, total) {
  const section = h('section', {key: 'problems', id: 'problems',
    class: all.length ? 'wrong' : 'well', 'aria-label': 'What is wrong'},
  h('h2', null, all.length ? many(total, 'problem') : 'No problems'),
  all.length > 0 && h('ul', null, all.slice(0, MANY).map(problem)),
  all.length > MANY && h('details', {id: 'other-problems'},
    h('summary', null, many(total - MANY, 'other problem')),
    h('ul', null, all.slice(MANY).map(problem))));
  return section;
}

// ---- totals

// "6 + 1 extra processes" or "4 of 6 processes".
function sizeOf(pool) {
  return pool.count > pool.max
    ? [h('b', null, count(pool.max)), ' + ' + count(pool.count - pool.max) +
       ' extra processes']
    : [h('b', null, count(pool.count)), ' of ' + count(pool.max) +
       ' processes'];
}

// " (3 busy, 1 idle), 1 starting": those that count against MaxPoolSize are in
// brackets.
function statesOf(states) {
  const word = (state, always, bad) => (states[state] > 0 || always) &&
    h('span', {class: bad ? 'bad' : null}, count(states[state]) + ' ' + state);
  const list = words => words.filter(Boolean).map((one, i) =>
    [i > 0 && ', ', one]);
  const others = list([word('starting'), word('leaving'),
    word('dying', false, true), word('unkillable', false, true)]);
  return [' (', list([word('busy', true), word('idle', true),
    word('hung', false, true)]), ')', others.length > 0 && [', ', others]];
}

function sum(rows, key) {
  let all = null;
  for (const row of rows) if (known(row[key])) all += row[key];
  return all;
}

function fact(what, value, css, title) {
  return h('div', {title}, h('dt', null, what), h('dd', {class: css || null},
    value));
}

function totals(doc, rows) {
  const pool = doc.pool || {}, states = pool.states || {};
  const errors = sum(rows, 'errors');
  const used = rows.filter(row => row.state !== 'unused').length;
  return h('section', {key: 'summary', id: 'summary', 'aria-label': 'Totals'},
    h('p', null, sizeOf(pool), statesOf(states), '; ',
      h('span', {class: pool.waiting > 0 ? 'warn' : null},
        h('b', null, count(pool.waiting)), ' waiting'),
      pool.out && h('span', {class: 'warn'}, '; this host is out')),
    h('dl', null,
      fact('Applications', count(rows.length) + ', ' + count(used) + ' used',
        null, 'used: they have had a request'),
      fact('Requests', rate(sum(rows, 'rate'))),
      fact('5xx in the last minute', count(errors), errors > 0 && 'warn'),
      fact('Suspended connections', count(sum(rows, 'suspended')), null,
        SUSPENDED),
      fact('Memory', bytes(sum(rows, 'memory'))),
      fact('Processors used', processors(sum(rows, 'cpu')))));
}

function poolCharts(doc) {
  const samples = doc.history || [], all = times(samples);
  const values = key => samples.map(one => one[key]);
  const one = (id, title, unit, key, css) => chart({id, title, unit, times: all,
    series: [{name: '', css, values: values(key)}]});
  return h('section', {key: 'history', id: 'history', class: 'charts',
    'aria-label': 'The whole pool, last ten minutes'},
  one('chart-rate', 'Requests', rate, 'rate', 'c1'),
  one('chart-latency', 'Mean response time', span, 'latency', 'c2'),
  chart({id: 'chart-queue', title: 'Requests now', unit: count, times: all,
    series: [{name: 'waiting', css: 'c4', values: values('queue')},
      {name: 'processes busy', css: 'c1', values: values('busy')}]}));
}

// ---- events

function eventRow(event, own) {
  return h('tr', {key: event.number}, h('td', {class: 'nw',
    title: day(event.time)}, time(event.time)),
  h('td', {class: 'nw'}, h('span', {class: /fail|died|hung|kill/.test(
    event.event) && event.event !== 'unhung' ? 'bad' : null},
  safe(event.event).replace('_', ' ')), event.count > 1 &&
    h('b', {title: 'since ' + day(event.first)}, ' \u00d7 ' +
      count(event.count))),
  h('td', {class: 'n opt'}, event.pid ? String(event.pid) : ''),
  h('td', {class: 'w'}, event.app && !own && appName(event.app),
    event.reason && [own ? '' : ': ', name(event.reason)],
    event.error_id && ' (error id ' + safe(event.error_id) + ')'));
}

// own: they are all of one application
function eventTable(events, label, own) {
  return h('table', {class: 'events'}, h('caption', {class: 'hidden'}, label),
    h('thead', null, h('tr', null,
      h('th', {scope: 'col'}, 'Time'), h('th', {scope: 'col'}, 'Event'),
      h('th', {scope: 'col', class: 'n opt'}, 'PID'),
      h('th', {scope: 'col', class: 'w'}, own ? 'Reason' : 'Application'))),
    h('tbody', null, events.map(one => eventRow(one, own))));
}

function eventSection(all, key) {
  const own = key === 'app-events';
  const events = (all || []).slice().reverse(); // the newest is first
  if (!events.length) return null;
  return h('section', {key, id: key}, h('h2', null, 'Events'),
    eventTable(events.slice(0, RECENT), 'The last events', own),
    events.length > RECENT && h('details', {id: key + '-older'},
      h('summary', null, 'Older events'),
      eventTable(events.slice(RECENT), 'Older events', own)));
}

function counterSection(counters) {
  return h('section', {key: 'counters', id: 'counters'},
    h('details', {id: 'counts'},
      h('summary', null, 'Counters since httpd was started'),
      h('dl', null, Object.keys(counters || {}).map(key =>
        fact(key.replace(/_/g, ' '), count(counters[key]))))));
}
