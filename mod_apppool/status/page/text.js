// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values as people read them.
//
// All times are those of the server's clock, in the server's zone. The clock of
// the browser is never asked for the time of day, as it may be wrong.

const NONE = '\u2013';
const OLD = 5, VERY_OLD = 120; // seconds: the colour of a request's age

// Control characters, and those that turn the direction of what follows.
const HIDDEN = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e' +
  '\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufff9-\\ufffb]', 'g');

// A text of somebody else: a name, a path, an error.
function safe(text) {
  return text === null || text === undefined ? NONE
    : String(text).replace(HIDDEN, '?');
}

// The same, apart from the direction of the text around it.
function name(text) {
  return h('bdi', null, safe(text));
}

function known(value) {
  return typeof value === 'number' && isFinite(value);
}

// "12,345"
function count(n) {
  return known(n) ? String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',')
    : NONE;
}

// "1 request", "3 requests"
function many(n, word, words) {
  return count(n) + ' ' + (n === 1 ? word : words || word + 's');
}

function decimals(n) {
  return n >= 100 ? n.toFixed(0) : n >= 1 ? String(+n.toFixed(1))
    : String(+n.toPrecision(2));
}

function rate(n) {
  return known(n) ? (n >= 1000 ? count(n) : decimals(n)) + '/s' : NONE;
}

function percent(part) {
  return known(part) ? (part * 100).toFixed(1) + ' %' : NONE;
}

function bytes(n) {
  if (!known(n)) return NONE;
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return (i && n < 10 ? n.toFixed(1) : n.toFixed(0)) + ' ' + units[i];
}

// Processors that were used: "0.25"
function processors(n) {
  return known(n) ? n < 10 ? n.toFixed(2) : n.toFixed(1) : NONE;
}

// "40 ms", "3.2 s", "5 min", "2 h 10 min", "3 d 4 h"
function span(s) {
  if (!known(s) || s < 0) return NONE;
  if (s === 0) return '0 s';
  if (s < 1) return (s * 1000).toFixed(s < 0.01 ? 1 : 0) + ' ms';
  if (s < 10) return s.toFixed(1) + ' s';
  if (s < 120) return Math.floor(s) + ' s';
  const min = Math.floor(s / 60), hours = Math.floor(s / 3600);
  if (s < 7200) return min + ' min';
  if (s < 172800) return hours + ' h ' + min % 60 + ' min';
  return count(Math.floor(hours / 24)) + ' d ' + hours % 24 + ' h';
}

// ---- the clock

const clock = {now: NaN, zone: '', offset: 0};

// server: from the document; {} if it has none
function setClock(server) {
  const zone = /^([+-])(\d\d):(\d\d)$/.exec(server.zone || '+00:00');
  const minutes = zone ? zone[2] * 60 + +zone[3] : 0;
  clock.now = Date.parse(server.now);
  clock.offset = (zone && zone[1] === '-' ? -1 : 1) * minutes * 60000;
  clock.zone = minutes ? zone[0] : 'UTC';
}

// "14:03:27", in the server's zone
function time(when) {
  const ms = typeof when === 'string' ? Date.parse(when) : when;
  return isFinite(ms) ? new Date(ms + clock.offset).toISOString()
    .slice(11, 19) : NONE;
}

// Seconds since then.
function since(when) {
  return Math.max(0, (clock.now - Date.parse(when)) / 1000);
}

function ageClass(s) {
  return s > VERY_OLD ? 'bad' : s > OLD ? 'warn' : null;
}

// A state. Its word is also its class, which gives it a colour.
function badge(state) {
  return h('span', {class: 's ' + String(state).replace(/\W/g, '')},
    safe(state).replace('_', '-'));
}
