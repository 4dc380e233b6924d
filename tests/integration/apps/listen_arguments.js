// Licensed under the Apache License, Version 2.0; see LICENSE.
// Which listen() gets the socket of the pool (helpers/node/listen.cjs): node
// itself listens nowhere here. The argument is the path of the helper.
const assert = require("assert");
const net = require("net");

const helper = process.argv[2];
const real = { ...net.Server.prototype,
               address: net.Server.prototype.address };
let asked; // the arguments with which node was to listen

// A server that has been told to listen, with a new helper. It says which
// arguments reached node.
function ask(words, own = {}) {
  net.Server.prototype.listen = function(...args) {
    asked = args;
    return this;
  };
  net.Server.prototype.address = () => null;
  delete require.cache[require.resolve(helper)];
  process.env.LISTEN_PID = process.pid;
  require(helper);
  const server = Object.assign(new net.Server(), own);
  server.listen(...words);
  server._handle = {}; // node would have one
  return server;
}

const callback = () => {};
const signal = new AbortController().signal;
const SOCKET = [{ fd: 3, signal: undefined }, undefined];

const given = [
  // arguments, address, family, port
  [[3000], "::", "IPv6", 3000],
  [["3000"], "::", "IPv6", 3000],
  [[65535, "127.0.0.1"], "127.0.0.1", "IPv4", 65535],
  [[1, "::1"], "::1", "IPv6", 1],
  [[3000, "localhost", 10], "127.0.0.1", "IPv4", 3000],
  [[{ port: 3000 }], "::", "IPv6", 3000],
  [[{ port: "3000", host: "0.0.0.0", path: undefined }], "0.0.0.0", "IPv4",
   3000],
  [[], "::", "IPv6", 0],
  [[undefined], "::", "IPv6", 0],
  [[null], "::", "IPv6", 0],
  [[{ port: undefined }], "::", "IPv6", 0],
];
for (const [words, address, family, port] of given) {
  const server = ask(words);
  assert.deepStrictEqual(asked, SOCKET, `${words}`);
  assert.deepStrictEqual(server.address(), { address, family, port });
  server._handle = null; // it is closed
  assert.strictEqual(server.address(), null);
}
for (const words of [[callback], [3000, callback], [3000, "::1", callback],
                     [{ port: 3000 }, callback]]) {
  ask(words);
  assert.deepStrictEqual(asked, [SOCKET[0], callback]);
}
ask([{ port: 3000, signal }]);
assert.strictEqual(asked[0].signal, signal);

const handle = { fd: 7 };
for (const words of [[0], ["0"], [{ port: 0 }], ["/tmp/socket"], ["3000x"],
                     [65536], [-1], [1.5], [""], [{}], [{ path: "/tmp/s" }],
                     [{ port: 3000, path: "/tmp/s" }], [{ fd: 3 }],
                     [{ fd: 4, port: 3000 }], [handle], [{ handle, port: 1 }],
                     [{ _handle: handle, port: 1 }]]) {
  ask(words);
  assert.deepStrictEqual(asked, words);
}
ask([3000], { setSecureContext: callback }); // TLS
assert.deepStrictEqual(asked, [3000]);
ask([3000], { _handle: {} }); // it listens, so node refuses that
assert.deepStrictEqual(asked, [3000]);

// A second one is left alone. For the same port on another address, it gets
// another port.
ask([3000]);
new net.Server().listen(3000, callback);
assert.deepStrictEqual(asked, [3000, callback]);
for (const [words, reaches] of [
  [[3000, "::1", 9], [0, "::1", 9]],
  [[{ port: "3000", host: "::1" }, callback],
   [{ port: 0, host: "::1" }, callback]],
  [[3000, "localhost"], [3000, "localhost"]]]) {
  ask([3000, "127.0.0.1"]);
  new net.Server().listen(...words);
  assert.deepStrictEqual(asked, reaches);
}

// PORT names the one.
for (const [PORT, port, gets] of [["3001", 3000, false], ["3000", 3000, true],
                                  ["3001", undefined, true], ["", 3000, true],
                                  ["/tmp/socket", 3000, true]]) {
  process.env.PORT = PORT;
  ask([port]);
  assert.deepStrictEqual(asked, gets ? SOCKET : [port]);
}
delete process.env.PORT;

// Another process is meant.
for (const pid of ["", "0", String(process.pid + 1), undefined]) {
  net.Server.prototype.listen = real.listen;
  delete require.cache[require.resolve(helper)];
  delete process.env.LISTEN_PID;
  if (pid !== undefined)
    process.env.LISTEN_PID = pid;
  require(helper);
  assert.strictEqual(net.Server.prototype.listen, real.listen);
}
console.log("passed");
