// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The store: its process, the other hosts, and its spaces.

const FEW_SPACES = 3; // then they are open

// Operations a second, from two documents.
const operations = {of: new Map(), pid: 0, at: NaN};

// own: the store of the document of one application
function noteOperations(store, own, now) {
  const before = operations.of, seconds = (now - operations.at) / 1000;
  const same = store && operations.pid === store.pid && seconds > 0;
  operations.of = new Map();
  for (const space of [...spacesOf(store), ...spacesOf(own)]) {
    const old = before.get(space.name);
    operations.of.set(space.name, {total: space.operations, rate: same && old &&
      space.operations >= old.total ? (space.operations - old.total) / seconds
      : null});
  }
  operations.pid = store ? store.pid : 0;
  operations.at = now;
}

function spacesOf(store) {
  return store && store.spaces || [];
}

// ---- a space

function bar(space) {
  const part = space.size > 0 ? Math.min(1, space.used / space.size) : 0;
  return h('svg', {class: 'fill', viewBox: '0 0 240 1', role: 'img',
    preserveAspectRatio: 'none', 'aria-label':
      (part * 100).toFixed(0) + ' % of the memory is used'},
  h('rect', {width: (part * 240).toFixed(1), height: 1}));
}

function spaceLine(space) {
  return [h('b', null, bytes(space.used)), ' of ' + bytes(space.size) + ', ',
    h('b', null, count(space.items)), space.items === 1 ? ' item, '
      : ' items, ', space.max_connections > 0
      ? count(space.connections) + ' of ' + String(space.max_connections) +
        ' connections' : many(space.connections, 'connection')];
}

function spaceFacts(space, apps) {
  const now = operations.of.get(space.name);
  const some = [['gets', 'Gets'], ['sets', 'Sets'], ['expired', 'Expired'],
    ['evictions', 'Evicted', 'warn'], ['out_of_memory', 'Out of memory', 'bad'],
    ['too_large', 'Too large', 'warn'], ['unconfirmed', 'Unconfirmed', 'warn'],
    ['not_confirmed', 'Not confirmed', 'bad'],
    ['connections_refused', 'Refused', 'bad']];
  return h('div', null, h('p', null, spaceLine(space)), bar(space),
    apps.length > 0 && h('p', null, 'Used by ', apps.map((row, i) => [
      i > 0 && ', ', h('a', {href: link({app: row.name}), 'data-do': 'open'},
        name(row.shown))])),
    h('dl', null,
      fact('Operations', now && now.rate !== null ? now.rate.toFixed(
        now.rate < 10 ? 1 : 0) + '/s' : NONE),
      fact('Hit rate', percent(space.hit_rate)),
      some.map(([key, what, css]) => fact(what, count(space[key]),
        space[key] > 0 && css)),
      known(space.evicted_age) &&
        fact('Evicted after', span(space.evicted_age))));
}

function spaceSection(space, apps, open) {
  return h('details', {key: space.name, class: 'store', '.open': openSpaces
    .has(space.name) ? openSpaces.get(space.name) : open,
  'data-space': space.name},
  h('summary', null, h('h3', null, name(space.name))),
  spaceFacts(space, apps));
}

const openSpaces = new Map(); // those that the user has opened or closed

// ---- other hosts

function clusterFacts(c) {
  const epoch = c.epoch ? count(c.epoch_number) + ' (' + safe(c.epoch) + '), ' +
    count(c.position) + ' changes' : 'none';
  const common = [fact('Epoch', epoch), fact('Ready', c.ready ? 'yes'
    : 'no: ' + safe(c.reason), !c.ready && 'bad')];
  const copy = c.complete ? 'complete' : 'not complete';
  if (c.slaves)
    return h('dl', null, fact('Items', copy, !c.complete && 'bad'), common,
      fact('Changes that no slave has', count(c.unsent_changes),
        c.unsent_changes > 0 && 'warn'),
      fact('Slaves dropped', count(c.slaves_dropped),
        c.slaves_dropped > 0 && 'warn'));
  return h('dl', null, fact('Master', !c.connected ? 'not connected'
    : c.yrmcds ? 'yrmcds' : 'connected', !c.connected && 'bad'),
  fact('Copy', copy, !c.complete && 'warn'),
  known(c.age_seconds) && fact('Age of the copy', span(c.age_seconds),
    !c.ready && 'warn'), common,
  fact('Changes received', count(c.changes_received)),
  fact('Connections relayed', count(c.relayed)));
}

function slaveRow(s) {
  return h('tr', null, h('td', null, safe(s.address)),
    h('td', null, s.yrmcds ? 'yrmcds' : 'apppool'),
    h('td', null, span(since(s.joined))),
    h('td', null, s.complete ? 'complete' : 'not complete'),
    h('td', null, count(s.lag) + ' behind (' + span(s.lag_seconds) + ')'),
    h('td', {class: 'opt'}, bytes(s.bytes_sent)));
}

function slaves(all) {
  if (!all) return null;
  if (!all.length) return h('p', {class: 'warn'}, 'There is no slave.');
  return h('table', null, h('caption', {class: 'hidden'}, 'Slaves'),
    h('thead', null, h('tr', null, ['Slave', 'Program', 'Joined', 'Copy',
      'Changes'].map(text => h('th', {scope: 'col'}, text)),
    h('th', {scope: 'col', class: 'opt'}, 'Sent'))),
    h('tbody', null, all.map(slaveRow)));
}

function cluster(c) {
  if (!c) return null;
  return h('div', {id: 'cluster'}, h('h3', null, 'Hosts of the store'),
    h('p', null, 'This host is the ', h('b', null, safe(c.role)), ' of ',
      h('b', null, safe(c.virtual_ip)), c.since &&
        ', for ' + span(since(c.since)), c.handover && ['; ',
      h('b', {class: 'warn'}, 'handover: it serves nothing until the address ' +
        'has moved')]),
    clusterFacts(c), slaves(c.slaves));
}

// ---- the whole

function processOf(store) {
  const spaces = spacesOf(store);
  const found = sum(spaces, 'recovered'), dropped = sum(spaces, 'dropped');
  const missing = store.missing_listeners;
  return h('p', null, 'Process ' + (store.pid || NONE) + ', started ' +
    span(since(store.started)) + ' ago', found + dropped > 0 && '; recovered ' +
    many(found, 'item') + ' of the last store, in ' + span(store.recovery),
  dropped > 0 && [', and ', h('b', {class: 'warn'}, 'dropped ' +
    count(dropped))],
  missing > 0 && ['; ', h('b', {class: 'bad'}, 'it cannot listen at ' +
    many(missing, 'address', 'addresses')), ': see the error log']);
}

function storeSection(store, rows) {
  if (!store) return null;
  const spaces = spacesOf(store), users = new Map();
  const others = (store.spaces_total || 0) - spaces.length;
  for (const row of rows)
    if (row.space)
      users.set(row.space, [...users.get(row.space) || [], row]);
  return h('section', {key: 'store', id: 'store'}, h('h2', null, 'Store'),
    processOf(store), cluster(store.cluster),
    spaces.map(space => spaceSection(space, users.get(space.name) || [],
      spaces.length <= FEW_SPACES)),
    others > 0 && h('p', {class: 'dim'}, 'and ' + many(others, 'other space') +
      ': each is shown with its application'));
}
