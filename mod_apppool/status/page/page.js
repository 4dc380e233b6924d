// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The page: it asks for the documents every two seconds, shows them, and does
// what the user wants. It waits while nobody sees it, or while a text is
// selected. If no document comes, it says so, and shows the last one.

const PERIOD = 2000, PATIENCE = 10000; // ms
const NARROW = window.matchMedia('(max-width: 640px)');
const MEDIUM = window.matchMedia('(max-width: 900px)');
const TINY = window.matchMedia('(max-width: 380px)');

const page = document.getElementById('page');
const side = document.getElementById('drawer');
const live = document.getElementById('live');
const notice = document.getElementById('notice');
let token = null; // for buttons; null: there are none
let doc = null, detail = null; // the documents
let timer = 0, asking = false, again = false, waiting = 0, scrolled = 0;

// ---- showing

function showAll() {
  const rows = rowsOf(doc);
  document.body.classList.toggle('open', view.app !== '');
  side.hidden = view.app === '';
  const charts = poolCharts(doc), narrow = NARROW.matches;
  const wrong = doc.problems || [];
  show(page,
    problems(wrong, Math.max(wrong.length, doc.problems_total || 0)),
    totals(doc, rows), !narrow && charts,
    list(rows), narrow && charts, storeSection(doc.store, rows),
    eventSection(doc.events_folded, 'events'), counterSection(doc.counters));
  show(side, view.app ? drawer(detail, doc, rows) : []);
}

// Many changes make one drawing.
function draws() {
  if (!waiting && doc)
    waiting = requestAnimationFrame(() => {
      waiting = 0;
      showAll();
    });
}

function setHead(server) {
  show(document.getElementById('host'), hostOf(server));
  live.textContent = time(clock.now) + ' ' + clock.zone;
  document.body.classList.remove('stale');
  if (server.version && page.parentNode.dataset.version !== server.version)
    notice.textContent = 'The server has another version now: reload the page.';
}

function stale(error) {
  if (error.name === 'AbortError') return;
  const why = error.name === 'TimeoutError' ? 'it takes too long'
    : error.message;
  live.textContent = (doc ? 'no response since ' + time(clock.now) + ' ' +
    clock.zone : 'no response') + ': ' + why;
  document.body.classList.add('stale');
}

// ---- asking

function ask(query, what) {
  const limit = AbortSignal.timeout ? AbortSignal.timeout(PATIENCE) : null;
  return fetch(location.pathname + query, {cache: 'no-store', signal: limit,
    ...what});
}

// @param key the document has an array of this name
async function load(query, key) {
  const response = await ask(query);
  if (!response.ok) throw new Error('HTTP ' + response.status);
  const text = await response.text();
  let found = null;
  try {
    found = JSON.parse(text);
  } catch (error) {
    if (text[0] === '{') throw new Error('the response is not complete');
  }
  if (!found || !Array.isArray(found[key]))
    throw new Error('it is another document, maybe of a login');
  return found;
}

async function refresh() {
  const app = view.app;
  const next = await load('?list', 'rows');
  const more = app
    ? await load('?json&app=' + encodeURIComponent(app), 'groups') : null;
  const server = next.server || {};
  setClock(server);
  noteOperations(next.store, more && more.store, clock.now);
  token = next.token || null;
  doc = next;
  detail = app === view.app ? more : null;
  setHead(server);
  draws();
}

function selecting() {
  const chosen = window.getSelection();
  return chosen && !chosen.isCollapsed && (page.contains(chosen.anchorNode) ||
    side.contains(chosen.anchorNode));
}

// One at a time; the next one comes two seconds after the end of this one.
async function tick() {
  clearTimeout(timer);
  again = asking;
  if (asking) return;
  if (!document.hidden && !selecting()) {
    asking = true;
    await refresh().catch(stale);
    asking = false;
  }
  timer = setTimeout(tick, again ? 0 : PERIOD);
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(tick, 0);
}

// ---- what the user does

function openApp(app) {
  if (!view.app) scrolled = window.scrollY;
  setView({app});
  viewChanged(true);
}

// @param step the drawer shows another application now, or none
function viewChanged(step) {
  if (step) detail = null;
  if (doc) showAll();
  if (!step) return;
  soon();
  if (doc && view.app) document.getElementById('drawer-name').focus();
  if (!view.app || getComputedStyle(page).display === 'none')
    window.scrollTo(0, view.app ? 0 : scrolled);
}

function closeApp() {
  const app = view.app;
  setView({app: ''});
  viewChanged(true);
  for (const row of page.querySelectorAll('.apps a'))
    if (row.getAttribute('href') === link({app})) row.focus();
}

async function act(button) {
  const {action, value, ask: question} = button.dataset;
  if (question && !confirm(question)) return;
  try {
    const form = new URLSearchParams({token, do: action, name: value});
    const done = await ask('', {method: 'POST', body: form,
      redirect: 'manual'});
    if (done.type === 'opaqueredirect') notice.textContent = '';
    else notice.textContent = sentence(await done.text()) ||
      'HTTP ' + done.status;
  } catch (error) {
    stale(error);
  }
  soon();
}

// The sentence of a page that refuses.
function sentence(html) {
  const p = new DOMParser().parseFromString(html, 'text/html')
    .querySelector('p');
  return p ? p.textContent : '';
}

// Without https there is no navigator.clipboard, and a browser may refuse it.
async function copy(button) {
  const text = button.dataset.value;
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch (error) {
    getSelection().selectAllChildren(button.parentNode.querySelector('code'));
    done = document.execCommand('copy');
    if (done) getSelection().removeAllRanges();
  }
  notice.textContent = done ? 'Copied: ' + text
    : 'The browser does not copy it: it is selected.';
}

const DO = {
  open: element => openApp(new URLSearchParams(
    element.getAttribute('href').slice(1)).get('app')),
  close: closeApp,
  sort: element => changeView({sort: element.dataset.value}),
  fold: element => changeView({open: element.dataset.value}),
  act,
  copy
};

function changeView(changes) {
  setView(changes);
  viewChanged(false);
}

// ---- events of the browser

document.addEventListener('click', event => {
  const element = event.target.closest('[data-do]');
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey &&
    !event.shiftKey && !event.altKey;
  if (!element || !plain) return;
  event.preventDefault();
  DO[element.dataset.do](element);
});
document.addEventListener('input', event => {
  const key = event.target.dataset.view;
  if (!key) return;
  setView({[key]: event.target.value});
  draws();
});
document.addEventListener('submit', event => event.preventDefault());
document.addEventListener('toggle', event => {
  const space = event.target.dataset.space;
  if (space) openSpaces.set(space, event.target.open);
}, true);
document.addEventListener('keydown', event => {
  const box = event.target.closest && event.target.closest('.draw');
  if (event.target.closest && event.target.closest('input, select')) return;
  if (event.key === 'Escape') {
    if (cursor.at !== null) cursor.at = null;
    else if (view.app) closeApp();
    draws();
  } else if (box && keyAt(box, event.key)) {
    event.preventDefault();
    draws();
  }
});
document.addEventListener('pointermove', event => {
  const box = event.target.closest && event.target.closest('.draw');
  if (box ? pointAt(box, event.clientX) : event.pointerType === 'mouse' &&
      cursor.at !== null && !document.activeElement.closest('.draw')) {
    if (!box) cursor.at = null;
    draws();
  }
});
window.addEventListener('popstate', () => {
  const before = view.app;
  readView();
  viewChanged(before !== view.app);
});
document.addEventListener('visibilitychange', soon);
for (const width of [NARROW, MEDIUM, TINY])
  width.addEventListener('change', draws);

readView();
tick();
