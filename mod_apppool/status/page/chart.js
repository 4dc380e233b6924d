// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Charts of the last ten minutes: lines, or areas on top of each other, with
// axes. The pointer or the arrow keys choose an instant, for all charts at the
// same time; each legend shows the values of that instant.

const SPAN = 600; // seconds
const WIDTH = 600, HEIGHT = 100; // of the drawing, which is stretched
const cursor = {at: null}; // ms; null: the last sample

// The end of an axis: the smallest of 1, 2, 4, 6, 8, 10, 20, ... that is not
// below the largest value. What is counted has an axis of two at least, so its
// middle is a whole number.
function round(most, unit) {
  const base = unit === bytes && most >= 1
    ? Math.pow(1024, Math.floor(Math.log2(most) / 10)) : 1;
  const n = unit === count ? Math.max(2, most) : most / base;
  if (!(n > 0)) return base;
  const ten = Math.pow(10, Math.floor(Math.log10(n) + 1e-9));
  return [1, 2, 4, 6, 8, 10].find(one => one * ten >= n * (1 - 1e-9)) * ten *
    base;
}

// samples: [{time, ...}], oldest first.
function times(samples) {
  return samples.map(one => Date.parse(one.time));
}

function across(chart, i) {
  return WIDTH * (1 - (chart.end - chart.times[i]) / 1000 / SPAN);
}

function upTo(chart, value) {
  return HEIGHT - HEIGHT * value / chart.most;
}

function point(chart, i, value) {
  return across(chart, i).toFixed(1) + ' ' + upTo(chart, value).toFixed(1);
}

// Two samples that are too far apart have nothing between them.
function follows(chart, i) {
  return i > 0 && chart.times[i] - chart.times[i - 1] < chart.apart;
}

// Twice the usual time between two samples. The spawner is late for some.
function apartOf(all) {
  const steps = all.slice(1).map((one, i) => one - all[i]);
  steps.sort((a, b) => a - b);
  return 2 * (steps[steps.length >> 1] || 0) + 2000;
}

// A line. A value that is not known is a gap; alone, it is a dot.
function line(chart, values) {
  let path = '', pen = false;
  values.forEach((value, i) => {
    if (!known(value)) {
      pen = false;
      return;
    }
    path += pen && follows(chart, i) ? 'L' + point(chart, i, value)
      : 'M' + point(chart, i, value) + 'h.1';
    pen = true;
  });
  return path;
}

// What is between two lines.
function area(chart, lower, upper) {
  let path = '', from = 0;
  for (let i = 1; i <= upper.length; i++)
    if (i === upper.length || !follows(chart, i)) {
      for (let k = from; k < i; k++)
        path += (k === from ? 'M' : 'L') + point(chart, k, upper[k]);
      for (let k = i - 1; k >= from; k--)
        path += 'L' + point(chart, k, lower[k]);
      path += 'Z';
      from = i;
    }
  return path;
}

// Values on top of each other: {lower, upper} of each series.
function stack(series, n) {
  let lower = new Array(n).fill(0);
  return series.map(one => {
    const upper = lower.map((low, i) => low + (one.values[i] || 0));
    const both = {lower, upper};
    lower = upper;
    return both;
  });
}

function largest(all) {
  let most = 0;
  for (const values of all)
    for (const value of values) if (value > most) most = value;
  return most;
}

// The index of the sample that is chosen: the last one before the cursor.
function chosen(chart) {
  const n = chart.times.length;
  if (cursor.at === null || n === 0) return n - 1;
  let i = n - 1;
  while (i > 0 && chart.times[i] > cursor.at) i--;
  return i;
}

function draw(chart, stacked) {
  const i = chosen(chart);
  const rule = y => h('path', {class: 'rule', d: 'M0 ' + y + 'H' + WIDTH});
  return h('svg', {viewBox: '0 0 ' + WIDTH + ' ' + HEIGHT,
    'aria-hidden': 'true', preserveAspectRatio: 'none'},
  rule(0), rule(HEIGHT / 2), rule(HEIGHT),
  chart.series.map((one, k) => stacked
    ? h('path', {class: 'area ' + one.css,
      d: area(chart, stacked[k].lower, stacked[k].upper)})
    : h('path', {class: 'line ' + one.css, d: line(chart, one.values)})),
  cursor.at !== null && i >= 0 &&
    h('path', {class: 'cursor', d: 'M' + across(chart, i) + ' 0V' + HEIGHT}));
}

function legend(chart) {
  const i = chosen(chart);
  return h('figcaption', null, h('b', null, chart.title), ' ',
    chart.series.map(one => [h('span', {class: 'key ' + one.css},
      one.name + ' ', h('b', null, i < 0 ? NONE
        : chart.unit(one.values[i]))), ' ']));
}

// "14:03:27: 2xx 12/s, 5xx 0/s"
function spoken(chart) {
  const i = chosen(chart);
  return i < 0 ? 'no values yet' : time(chart.times[i]) + ': ' +
    chart.series.map(one => one.name + ' ' +
      chart.unit(one.values[i]).replace(NONE, 'none')).join(', ');
}

// wanted: {id, title, unit: function, series: [{name, css, values}], times,
// stacked}
function chart(wanted) {
  const n = wanted.times.length;
  const stacked = wanted.stacked && stack(wanted.series, n);
  const most = largest(stacked ? stacked.map(one => one.upper)
    : wanted.series.map(one => one.values));
  const c = {...wanted, most: round(most, wanted.unit), end: clock.now,
    apart: apartOf(wanted.times)};
  const at = i => wanted.unit(c.most * i / 2);
  return h('figure', {key: wanted.id}, legend(c), h('div', {class: 'plot'},
    h('div', {class: 'y', 'aria-hidden': 'true'}, [2, 1, 0].map(i =>
      h('span', null, at(i)))),
    h('div', {class: 'draw', id: wanted.id, tabindex: '0', role: 'slider',
      'aria-label': wanted.title + ', last ten minutes: arrow keys choose',
      'aria-valuemin': 0, 'aria-valuemax': Math.max(0, n - 1),
      'aria-valuenow': Math.max(0, chosen(c)), 'aria-valuetext': spoken(c),
      'data-times': wanted.times.join()}, draw(c, stacked)),
    h('div', {class: 'x', 'aria-hidden': 'true'}, [SPAN, SPAN / 2, 0].map(s =>
      h('span', null, time(clock.now - s * 1000))))));
}

// ---- pointer and keys. They return true if something has changed.

function timesOf(box) {
  return box.dataset.times ? box.dataset.times.split(',').map(Number) : [];
}

function pointAt(box, x) {
  const place = box.getBoundingClientRect();
  const part = (x - place.left) / place.width;
  const wanted = clock.now - (1 - part) * SPAN * 1000;
  const all = timesOf(box);
  if (!all.length) return false;
  cursor.at = all.reduce((best, one) =>
    Math.abs(one - wanted) < Math.abs(best - wanted) ? one : best);
  return true;
}

function keyAt(box, key) {
  const all = timesOf(box), last = all.length - 1;
  const now = cursor.at === null ? last
    : all.reduce((best, one, i) => one <= cursor.at ? i : best, 0);
  const next = {ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1,
    ArrowUp: now + 1, Home: 0, End: last, PageUp: now + 6,
    PageDown: now - 6}[key];
  if (next === undefined || last < 0) return false;
  cursor.at = all[Math.min(last, Math.max(0, next))];
  return true;
}
