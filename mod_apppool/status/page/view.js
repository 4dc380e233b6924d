// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the user wants to see. It is in the fragment of the URL, so a link leads
// to the same view, and a reload keeps it:
//
//     #app=shop&q=sh&state=failing&tenant=alice&sort=-memory&open=stopped

const view = {app: '', q: '', state: '', tenant: '', sort: '', open: ''};
const KEPT = Object.keys(view);

function readView() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const key of KEPT) view[key] = wanted.get(key) || '';
}

// The URL of this view with some changes.
function link(changes) {
  const all = new URLSearchParams();
  for (const key of KEPT) {
    const value = key in changes ? changes[key] : view[key];
    if (value) all.set(key, value);
  }
  return '#' + all;
}

// Change the view. A drawer that opens or closes is a step of the browser's
// history; a letter of a search is not.
function setView(changes) {
  const step = 'app' in changes && changes.app !== view.app;
  history[step ? 'pushState' : 'replaceState'](null, '', link(changes));
  readView();
}

// ---- the rows that it shows

// The parts of the list. An application is in the first one that has its state.
const PARTS = [
  ['problems', 'With problems', null],
  ['running', 'With processes', ['running', 'starting', 'restarting']],
  ['stopped', 'Without a process', null],
  ['unused', 'Without a request so far', ['unused']]
];
const FEW = 25; // applications: then nothing is folded
const STEP = 50; // rows that a part shows at once

function partOf(row) {
  if (row.problem) return 'problems';
  if (row.state === 'unused') return 'unused';
  return PARTS[1][2].includes(row.state) ? 'running' : 'stopped';
}

function matches(row) {
  return (!view.q || row.lower.includes(view.q.toLowerCase())) &&
    (!view.state || row.state === view.state ||
     view.state === 'problems' && row.problem) &&
    (!view.tenant || row.tenant === view.tenant);
}

// Numbers: the largest first; texts: from a to z. A "-" turns that around.
function compare(key, down) {
  const turn = down ? -1 : 1;
  return (a, b) => {
    const x = a[key], y = b[key];
    if (x === y) return a.place - b.place;
    if (x === null || x === undefined) return 1;
    if (y === null || y === undefined) return -1;
    if (typeof x === 'number') return turn * (y - x);
    return turn * (x < y ? -1 : 1);
  };
}

// The rows that match, in order, by part.
function sorted(rows) {
  const parts = {problems: [], running: [], stopped: [], unused: []};
  const key = view.sort.replace(/^-/, '');
  for (const row of rows)
    if (matches(row)) parts[partOf(row)].push(row);
  if (key && rows.length && key in rows[0])
    for (const part in parts)
      parts[part].sort(compare(key, view.sort[0] === '-'));
  return parts;
}

// Is a part open? `open` has the parts that the user has opened or closed:
// "stopped", "-running", and "stopped:300" with the number of its rows.
function opened(part, total) {
  const said = view.open.split(',').find(one =>
    one.replace(/^-/, '').split(':')[0] === part);
  if (said)
    return said[0] === '-' ? 0 : +said.split(':')[1] || STEP;
  const searching = view.q || view.state || view.tenant;
  return total <= FEW || searching || part === 'problems' ||
    part === 'running' ? STEP : 0;
}

// The value of `open` with another word for this part.
function openWith(part, rows) {
  const others = view.open.split(',').filter(one => one &&
    one.replace(/^-/, '').split(':')[0] !== part);
  const word = !rows ? '-' + part : rows === STEP ? part : part + ':' + rows;
  return [...others, word].join();
}
