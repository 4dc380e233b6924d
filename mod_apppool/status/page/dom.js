// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the page shows is made anew from the data each time, as a tree of plain
// objects. This file changes the document where the new tree differs from the
// last one. So the focus, a selected text and the scroll position stay, and a
// refresh costs little.
//
// Trust: a text becomes a text node or the value of an attribute. Nothing is
// parsed as HTML.

const SVG = 'http://www.w3.org/2000/svg';

// An element. attrs: a value of null or false is left out; `key` names the
// element among its siblings; `.name` is a property instead of an attribute.
// Children: elements, texts, numbers, arrays of these; null and false are left
// out.
function h(tag, attrs, ...children) {
  const all = {};
  for (const name in attrs || {})
    if (attrs[name] !== null && attrs[name] !== undefined &&
        (attrs[name] !== false || name[0] === '.'))
      all[name] = attrs[name] === true && name[0] !== '.' ? '' : attrs[name];
  return {tag, attrs: all, key: all.key, children: flat(children, [])};
}

function flat(children, to) {
  for (const child of children)
    if (Array.isArray(child))
      flat(child, to);
    else if (child !== null && child !== undefined && child !== false)
      to.push(typeof child === 'object' ? child : String(child));
  return to;
}

function setAttributes(node, attrs) {
  const before = node.shown || {};
  for (const name in before)
    if (!(name in attrs) && name[0] !== '.') node.removeAttribute(name);
  for (const name in attrs)
    if (name[0] === '.') {
      if (node[name.slice(1)] !== attrs[name])
        node[name.slice(1)] = attrs[name];
    } else if (before[name] !== attrs[name] && name !== 'key')
      node.setAttribute(name, attrs[name]);
  node.shown = attrs;
}

function make(want, space) {
  if (typeof want === 'string') return document.createTextNode(want);
  const inner = want.tag === 'svg' ? SVG : space;
  const node = inner ? document.createElementNS(inner, want.tag)
    : document.createElement(want.tag);
  node.key = want.key;
  update(node, want, inner);
  return node;
}

function update(node, want, space) {
  fill(node, want.children, space);
  setAttributes(node, want.attrs);
}

// Can this node become that one?
function fits(node, want) {
  if (!node) return false;
  if (typeof want === 'string') return node.nodeType === Node.TEXT_NODE;
  return node.nodeType === Node.ELEMENT_NODE && node.key === want.key &&
    node.localName === want.tag;
}

function find(parent, keyed, want, at) {
  if (want.key === undefined) return at;
  if (fits(at, want)) return at;
  if (!keyed.map) {
    keyed.map = new Map();
    for (const node of parent.childNodes)
      if (node.key !== undefined) keyed.map.set(node.key, node);
  }
  return keyed.map.get(want.key);
}

// Make the children of a node as wanted.
function fill(parent, children, space) {
  const keyed = {map: null};
  let at = parent.firstChild;
  for (const want of children) {
    let node = find(parent, keyed, want, at);
    if (!fits(node, want)) {
      node = make(want, space);
      parent.insertBefore(node, at);
    } else {
      if (node === at) at = at.nextSibling;
      else parent.insertBefore(node, at);
      if (typeof want !== 'string') update(node, want, spaceOf(want, space));
      else if (node.nodeValue !== want) node.nodeValue = want;
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function spaceOf(want, space) {
  return want.tag === 'svg' ? SVG : space;
}

// Show this in the place of what the node has. A row that moves keeps the
// focus.
function show(node, ...children) {
  const focus = document.activeElement;
  fill(node, flat(children, []));
  if (focus && focus !== document.activeElement && focus.isConnected)
    focus.focus({preventScroll: true});
}
