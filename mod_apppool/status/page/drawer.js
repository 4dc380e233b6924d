// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One application in full.

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];
const OURS = { // errors[]: the responses that mod_apppool made itself
  queue_full: 'the queue was full', queue_timeout: 'the queue took too long',
  start_failed: 'the start failed', died: 'the process died',
  killed: 'the process was killed', bad_response: 'the response was not HTTP',
  other: 'other reasons'};

// ---- commands and buttons

function quoted(word) {
  return /^[\w.\/@:+][\w.\/@:+-]*$/.test(word) ? word
    : '\'' + word.replace(/'/g, '\'\\\'\'') + '\'';
}

// What the page itself must not do. The text is copied by a button.
function command(words, what) {
  const text = 'apppoolctl ' + words.map(word => quoted(safe(word))).join(' ');
  return h('div', {class: 'command'}, h('code', null, text), ' ',
    h('button', {type: 'button', 'data-do': 'copy', 'data-value': text,
      'aria-label': 'Copy: ' + text}, 'Copy'), ' ',
    h('small', null, what));
}

function button(label, action, value, ask) {
  return token && h('button', {type: 'button', class: action,
    id: action + '-' + value, 'data-do': 'act', 'data-action': action,
    'data-value': value, 'data-ask': ask}, label);
}

function buttons(group) {
  const drained = group.state === 'drained';
  if (!token || group.state === 'removed') return null;
  return h('p', {class: 'buttons'}, drained
    ? button('Resume', 'resume', group.name,
      'Put this application back into service?')
    : [button('Restart', 'restart', group.name, 'Restart this application?'),
      ' ', button('Drain', 'drain', group.name,
        'Take this application out of service? Its requests get an error ' +
        'until somebody resumes it.')]);
}

// ---- why it does not start

function failure(group) {
  if (!group.last_error) return null;
  return h('div', {class: 'failure'},
    h('p', {class: 'bad'}, 'The last start failed at ' +
      day(group.last_error_time) + ' (error id ' + safe(group.last_error_id) +
      ')'),
    h('pre', {tabindex: '0', 'aria-label': 'Error of the start'},
      safe(group.last_error)),
    h('p', null, known(group.failures) && group.failures > 0 &&
      many(group.failures, 'failed start') + ' in a row' +
      (group.failing_since ? ' since ' + day(group.failing_since) : '') + '. ',
    known(group.next_try) ? group.next_try > 0
      ? 'The next start is tried in ' + span(group.next_try) + '.'
      : 'The next request starts it.' : ''));
}

function slowStart(slow) {
  return slow && h('p', {class: 'warn'}, 'A start lasts for ' +
    span(slow.age) + ': ' + safe(slow.text) + ' (error id ' + safe(slow.id) +
    ')');
}

// ---- facts

function deaths(all) {
  return all && all.length > 0 && h('table', {key: 'deaths'},
    h('caption', null, 'Processes that died'),
    h('thead', null, h('tr', null, h('th', {scope: 'col', class: 'n'}, 'Times'),
      h('th', {scope: 'col'}, 'Last'),
      h('th', {scope: 'col', class: 'w'}, 'Reason'))),
    h('tbody', null, all.map(one => h('tr', null,
      h('td', {class: 'n'}, count(one.count)),
      h('td', {class: 'nw', title: day(one.last)}, time(one.last)),
      h('td', {class: 'w'}, safe(one.reason))))));
}

function facts(group, row) {
  const limit = group.max > 0 ? ' of ' + count(group.max) : '';
  return h('dl', {key: 'facts'},
    fact('Processes', count(group.size) + limit +
      (group.min > 0 ? ', at least ' + count(group.min) : '')),
    fact('Waiting', count(group.queue), group.queue > 0 && 'warn'),
    group.outdated > 0 && fact('With old code', count(group.outdated), 'warn'),
    fact('Requests', count(group.requests_total)),
    known(group.bytes) && fact('Sent', bytes(group.bytes)),
    fact('Suspended connections', count(group.suspended), null, SUSPENDED),
    fact('Memory', bytes(known(group.memory) ? group.memory
      : sum(group.processes, 'memory'))),
    known(group.cpu) && fact('Processors used', processors(group.cpu)),
    known(group.cpu_seconds) && fact('CPU time', span(group.cpu_seconds)),
    fact('Starts', count(group.spawned) + ', ' +
      count(group.start_failures) + ' failed', group.start_failures && 'warn'),
    fact('Restarts', count(group.restarts)),
    fact('Died', count(group.died), group.died > 0 && 'warn'),
    fact('Requests at a time', group.concurrency === null ? 'automatic'
      : group.concurrency === 0 ? 'no limit' : count(group.concurrency)),
    (group.tenant || row.tenant) &&
      fact('User', name(group.tenant || row.tenant)),
    group.template && fact('Template', group.template.pid + ', ' +
      safe(group.template.state) + ', ' + count(group.template.forked) +
      ' forked'));
}

function recent(group) {
  const all = group.recent;
  if (!all) return null;
  const words = {'1m': 'minute', '5m': '5 minutes', '60m': 'hour'};
  const n = text => h('td', {class: 'n'}, text);
  return h('table', {key: 'recent'}, h('caption', null, 'Response times'),
    h('thead', null, h('tr', null, h('th', {scope: 'col'}, 'Last'),
      ['Requests', '5xx', '50 %', '95 %', '99 %'].map(text =>
        h('th', {scope: 'col', class: 'n'}, text)))),
    h('tbody', null, Object.keys(words).filter(key => all[key]).map(key =>
      h('tr', null, h('th', {scope: 'row'}, words[key]),
        n(rate(all[key].rate)),
        h('td', {class: all[key].errors > 0 ? 'n bad' : 'n'},
          count(all[key].errors)),
        n(span(all[key].p50)), n(span(all[key].p95)),
        n(span(all[key].p99))))));
}

function responses(group) {
  const all = group.responses, ours = group.errors || {};
  const made = Object.keys(ours).filter(key => ours[key] > 0);
  return all && h('div', {key: 'responses'},
    h('p', {class: 'dim'}, 'Responses since httpd was started: ' +
      CLASSES.filter(key => all[key] > 0 || key === '2xx').map(key =>
        key + ' ' + count(all[key])).join(', ')),
    made.length > 0 && h('p', {class: 'warn'},
      'Errors that mod_apppool sent: ' + made.map(key => count(ours[key]) +
        ' because ' + (OURS[key] || safe(key))).join('; ')));
}

// ---- charts

function groupCharts(samples) {
  if (!samples) return null;
  const all = times(samples);
  const values = key => samples.map(one => one[key]);
  const perSecond = key => samples.map(one => known(one[key]) &&
    one.seconds > 0 ? one[key] / one.seconds : null);
  const some = (id, title, unit, keys, stacked) => chart({id, title, unit,
    times: all, stacked, series: keys.map(([key, label, css]) => ({name: label,
      css, values: unit === rate ? perSecond(key) : values(key)}))});
  return h('div', {key: 'charts', class: 'charts'},
    some('app-classes', 'Responses', rate, [['2xx', '2xx', 'c1'],
      ['3xx', '3xx', 'c2'], ['4xx', '4xx', 'c3'], ['5xx', '5xx', 'c5']], true),
    some('app-times', 'Response time', span, [['p50', '50 %', 'c1'],
      ['p95', '95 %', 'c3'], ['p99', '99 %', 'c5']]),
    some('app-queue', 'Queue', count, [['queue', 'waiting', 'c4']]),
    some('app-states', 'Processes', count, [['busy', 'busy', 'c1'],
      ['idle', 'idle', 'c2'], ['starting', 'starting', 'c3'],
      ['hung', 'hung', 'c5']], true),
    some('app-memory', 'Memory', bytes, [['memory', '', 'c1']]),
    some('app-cpu', 'Processors used', processors, [['cpu', '', 'c1']]));
}

// ---- processes and requests

function processRow(p) {
  const n = (text, css) => h('td', {class: 'n ' + (css || '')}, text);
  const leaving = ['leaving', 'dying', 'unkillable'].includes(p.state);
  return h('tr', {key: p.id || p.pid}, n(p.pid ? String(p.pid) : NONE),
    h('td', null, badge(p.state)), n(count(p.sessions)),
    n(count(p.processed), 'opt'), n(bytes(p.memory)), n(span(since(p.started))),
    n(span(since(p.last_used)), 'opt'),
    h('td', {class: 'b'}, p.id && !leaving && button('Detach', 'detach', p.id,
      null)));
}

function processes(all) {
  if (!all || !all.length) return null;
  const col = (text, title, css) => h('th', {scope: 'col', class: css, title},
    text);
  return h('div', {key: 'processes'}, h('h3', null, 'Processes'),
    h('table', null, h('caption', {class: 'hidden'}, 'Processes'),
      h('thead', null, h('tr', null,
        col('PID', null, 'n'), col('State', null, null),
        col('Open', 'requests that it has', 'n'),
        col('Done', 'requests that it has had', 'n opt'),
        col('Memory', 'with all that it has started', 'n'),
        col('Age', 'since its start', 'n'),
        col('Last used', 'since its last request', 'n opt'),
        token ? h('td') : null)),
      h('tbody', null, all.slice(0, 2 * STEP).map(processRow))),
    all.length > 2 * STEP && h('p', {class: 'dim'}, 'and ' +
      count(all.length - 2 * STEP) + ' more'),
    worst(all).map(p => command(['report', p.id], 'what process ' + p.pid +
      ' is doing now')));
}

// Those that one wants to look into.
function worst(all) {
  const order = ['hung', 'dying', 'unkillable', 'starting', 'busy', 'leaving',
    'idle'];
  return all.filter(p => p.id && p.pid).sort((a, b) =>
    order.indexOf(a.state) - order.indexOf(b.state)).slice(0, 3);
}

function requestRow(group, q) {
  const p = (group.processes || []).find(one => one.pid === q.pid);
  const ending = !p || p.state === 'dying' || p.state === 'unkillable';
  return h('tr', {key: q.id}, h('td', {class: 'n ' + (ageClass(q.age) || '')},
    span(q.age)), h('td', null, badge(q.state)),
  h('td', {class: 'w'}, h('code', null, name(q.method + ' ' + q.uri +
    (q.query ? '?' + q.query : '')))),
  h('td', {class: 'opt who'}, safe(q.client), q.abandoned &&
    h('small', null, ' abandoned')),
  h('td', {class: 'n opt'}, q.pid ? String(q.pid) : NONE),
  h('td', {class: 'b'}, !ending && button('Kill', 'kill', p.id + '-' + q.id,
    'Kill the process of this request, together with all its requests?')));
}

function requests(group) {
  const all = group.requests || [], oldest = all.slice()
    .sort((a, b) => b.age - a.age);
  if (!all.length) return null;
  return h('div', {key: 'requests'}, h('h3', null, 'Requests'),
    h('table', {class: 'requests'},
      h('caption', {class: 'hidden'}, 'Requests'),
      h('thead', null, h('tr', null, h('th', {scope: 'col', class: 'n'}, 'Age'),
        h('th', {scope: 'col'}, 'State'),
        h('th', {scope: 'col', class: 'w'}, 'Request'),
        h('th', {scope: 'col', class: 'opt'}, 'Client'),
        h('th', {scope: 'col', class: 'n opt'}, 'PID'),
        token ? h('td') : null)),
      h('tbody', null, oldest.slice(0, STEP).map(q => requestRow(group, q)))),
    all.length > STEP && h('p', {class: 'dim'}, 'and ' +
      count(all.length - STEP) + ' more'));
}

// ---- the whole

function body(group, row, detail, doc) {
  const mine = detail.problems || (doc.problems || []).filter(one =>
    one.app === view.app);
  const space = row.space && [...spacesOf(detail.store),
    ...spacesOf(doc.store)].find(one => one.name === row.space);
  return [
    buttons(group),
    mine.length > 0 && h('ul', {key: 'why', class: 'wrong'}, mine.map(one =>
      h('li', null, safe(one.text)))),
    failure(group), slowStart(group.slow_start),
    facts(group, row), requests(group), processes(group.processes),
    recent(group), responses(group), groupCharts(group.history),
    deaths(group.deaths),
    space && h('div', {key: 'space'}, h('h3', null, 'Store'),
      spaceFacts(space, [])),
    eventSection((doc.events_folded || []).filter(one =>
      one.app === group.name), 'app-events'),
    commands(group)];
}

function commands(group) {
  return h('div', {key: 'commands'}, h('h3', null, 'For root, at the server'),
    command(['why', group.name], 'why its requests fail or wait'),
    command(['logs', group.name], 'what it has printed last'),
    command(['show', group.name], 'its directives'));
}

// What is said about an application without a group.
function without(row) {
  if (!row)
    return h('p', null, 'There is no application of this name any more.');
  return [h('p', null, 'It has had no request since httpd was started.'),
    row.tenant && h('dl', null, fact('User', name(row.tenant))),
    commands({name: row.name})];
}

// detail: the document of ?app=, or null
function drawer(detail, doc, rows) {
  const row = rows.find(one => one.name === view.app);
  const group = detail && (detail.groups || []).find(one =>
    one.name === view.app);
  return [h('header', {key: 'head'},
    h('h2', {id: 'drawer-name', tabindex: '-1'}, appName(view.app), ' ',
      (group || row) && badge(row ? wordOf(row) : group.state)),
    h('a', {href: link({app: ''}), id: 'close', class: 'button',
      'data-do': 'close'}, 'Close')),
  h('p', {key: 'root', class: 'dim'}, labels.get(view.app) && [
    name(view.app), ' \u00b7 '], group && name(group.app_root)),
  h('div', {key: 'body'}, group ? body(group, row || {}, detail, doc)
    : detail || !row ? without(row) : h('p', null, 'Loading \u2026'))];
}
