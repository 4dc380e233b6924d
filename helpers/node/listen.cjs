// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// For `node --require`: an application that listens on a TCP port gets the
// socket of the pool in place of that port. So `listen(3000)` works unchanged.
//
// The first listen() on a TCP port gets the socket. If PORT is set by then, it
// has to be that port. All others get what they ask for: port 0, a path, a
// descriptor, a server that speaks TLS, a later listen(). Worker threads and
// processes that LISTEN_PID does not name are left alone.
//
// An application that knows the socket may ask for descriptor 3 after it has
// opened a port. Then it gets the socket, and the port is opened after all.
//
// A framework may open one port on several addresses, for the names that
// `localhost` has. The first of these servers gets the socket. The others get
// another port on their address: in a second process, that one would be in use.
//
// A server that closes before anybody has connected may have looked whether its
// port is free. So the socket stays open, and the next listen() gets it.
// A client that connects meanwhile waits.
//
// The other end of the socket is httpd, and has no address. So a request names its
// client: httpd removes the X-Forwarded headers of a client, and sends its own.
// remoteAddress, remoteFamily and encrypted of the connection say what they say.
"use strict";

const net = require("net");
const { isMainThread } = require("worker_threads");

const SOCKET = 3;

const { address, close, listen } = net.Server.prototype;
const replies = new WeakMap(); // server: what its address() says
const twins = new WeakMap(); // server: the port that it has asked for
let holder = null; // {server, args, port, host, isUsed}: what got the socket,
                   // and asked so
let spare = null; // the handle of the socket, if no server has it any more
const waiting = []; // what onconnection() would have got meanwhile
let isTold = false;
const pooled = new WeakSet(); // servers whose clients are those of the pool
const CURRENT = Symbol("the request that a connection carries");
const ARRIVALS = new Set(["request", "upgrade", "connect", "checkContinue",
                          "checkExpectation"]);

// What is asked for: {port, host}, with port 0 if there is none. null: it is no
// TCP port, or port 0, or nothing that node would accept.
function asked([first, second]) {
  let port = first, host = typeof second === "string" ? second : undefined;
  if (typeof first === "object" && first !== null) {
    if (!("port" in first) || first.path || first.handle || first._handle ||
        first.fd !== undefined)
      return null;
    ({ port, host } = first);
  }
  if (port === undefined || port === null || typeof port === "function")
    return { port: 0, host };
  port = Number(port);
  return Number.isInteger(port) && port > 0 && port < 65536 ? { port, host }
                                                            : null;
}

function addressOf(host) {
  return host === undefined ? "::" : net.isIP(host) ? host : "127.0.0.1";
}

// What address() would say if the port were open.
function reply({ port, host }) {
  const at = addressOf(host);
  return { address: at, family: `IPv${net.isIP(at)}`, port };
}

// The port of the server that has the socket, on another address.
function isTwin({ port, host }) {
  return holder !== null && port !== 0 && port === holder.port &&
         addressOf(host) !== addressOf(holder.host);
}

function listenAsTwin(server, [first, ...more], port) {
  twins.set(server, port);
  return listen.call(server, typeof first === "object" ? { ...first, port: 0 }
                                                       : 0, ...more);
}

function isMeant({ port }) {
  const only = Number(process.env.PORT);
  return !(only > 0) || port === 0 || port === only;
}

function isTLS(server) {
  return typeof server.setSecureContext === "function";
}

// Two ports, and nobody has said which one httpd should reach.
function tell(port) {
  if (isTold || process.env.PORT || port === 0 || port === holder.port)
    return;
  isTold = true;
  process.stderr.write(
    `apppool: the requests of httpd go to the server of port ${holder.port}, ` +
    `which was first, and not to that of port ${port} (AppSetEnv PORT ${port} ` +
    "changes that)\n");
}

// The server that has the socket opens its port. @return its handle
function takeBack() {
  const { server, args } = holder, handle = server._handle;
  holder = null;
  replies.delete(server);
  pooled.delete(server);
  server._handle = null;
  listen.apply(server, args.filter((arg) => typeof arg !== "function"));
  return handle;
}

// The socket is open already.
function giveOpen(server, handle, callback) {
  if (callback)
    server.once("listening", callback);
  server._handle = handle;
  server._listen2(null, -1, -1, 0, SOCKET);
  return server;
}

// What a connection says of its client, whose requests follow one another.
const ofClient = {
  remoteAddress: {
    get() { return this[CURRENT].headers["x-forwarded-for"]; },
  },
  remoteFamily: {
    get() {
      const version = net.isIP(this.remoteAddress);
      return version ? `IPv${version}` : undefined;
    },
  },
  encrypted: {
    get() { return this[CURRENT].headers["x-forwarded-proto"] === "https"; },
  },
};
for (const property of Object.values(ofClient))
  property.configurable = true;

function meet(request) {
  const socket = request && request.socket;
  if (!(socket instanceof net.Socket))
    return;
  if (!socket[CURRENT])
    Object.defineProperties(socket, ofClient);
  socket[CURRENT] = request;
}

// From here on, the requests of this server come from httpd.
function introduce(server) {
  const { emit } = server;
  if (isTLS(server) || pooled.has(server))
    return;
  pooled.add(server);
  server.emit = function(event, request) {
    if (ARRIVALS.has(event) && pooled.has(this))
      meet(request);
    return emit.apply(this, arguments);
  };
}

function giveSpare(server, { signal }, callback) {
  const handle = spare;
  spare = null;
  handle.ref();
  if (signal)
    signal.addEventListener("abort", () => server.close());
  server.once("listening", () => setImmediate(() => {
    for (const one of waiting.splice(0))
      handle.onconnection(...one);
  }));
  return giveOpen(server, handle, callback);
}

function hold(server, args, port) {
  const own = holder = { server, args, ...port, isUsed: false };
  server.once("connection", () => { own.isUsed = true; });
  introduce(server);
  replies.set(server, reply(port));
}

function listenInPool(...args) {
  const port = asked(args), options = Object(args[0]);
  const callback = args.find((arg) => typeof arg === "function");
  if (options.fd === SOCKET && !this._handle) {
    introduce(this);
    if (spare)
      return giveSpare(this, options, callback);
    if (holder && holder.server._handle)
      return giveOpen(this, takeBack(), callback);
  }
  twins.delete(this);
  if (port && holder)
    tell(port.port);
  if (port && isTwin(port) && !this._handle)
    return listenAsTwin(this, args, port.port);
  if (!port || holder || this._handle || isTLS(this) || !isMeant(port))
    return listen.apply(this, args);
  hold(this, args, port);
  if (spare)
    return giveSpare(this, options, callback);
  return listen.call(this, { fd: SOCKET, signal: options.signal }, callback);
}

function closeInPool(...args) {
  if (holder && holder.server === this && this._handle && !holder.isUsed) {
    holder = null;
    replies.delete(this);
    spare = this._handle;
    spare.onconnection = (...one) => waiting.push(one);
    spare.unref();
    this._handle = { close() {} };
  }
  return close.apply(this, args);
}

// The primary of a cluster listens for its workers.
function listenInWorker(...args) {
  const port = asked(args);
  if (port)
    replies.set(this, reply(port));
  if (port && !holder && isMeant(port) && !isTLS(this)) {
    holder = { server: this };
    introduce(this);
  }
  return listen.apply(this, args);
}

function replace(own) {
  net.Server.prototype.listen = function(...args) {
    return own.apply(this, args);
  };
  net.Server.prototype.address = function() {
    const at = address.call(this);
    if (at && twins.has(this))
      return { ...at, port: twins.get(this) };
    return at || (this.listening && replies.get(this)) || null;
  };
}

const named = Number(process.env.LISTEN_PID);

if (isMainThread && process.pid === named) {
  replace(listenInPool);
  net.Server.prototype.close = function(...args) {
    return closeInPool.apply(this, args);
  };
} else if (isMainThread && process.ppid === named &&
         require("cluster").isWorker)
  replace(listenInWorker);
