// Licensed under the Apache License, Version 2.0; see LICENSE.
// The web app of test_web.py, for node; what it has to do stands there.
const fs = require("fs");
const http = require("http");

const kill = () => process.kill(process.pid, "SIGKILL");

function echo(request, response, url, body) {
  const seen = {
    Method: request.method,
    Mount: request.headers["x-forwarded-prefix"],
    Path: decodeURIComponent(url.pathname), Query: url.search.slice(1),
    Host: request.headers.host, Mine: request.headers["x-mine"],
    Cookies: request.headers.cookie, Secret: request.headers.authorization,
    Greeting: process.env.GREETING, Pid: process.pid,
  };
  response.setHeader("Content-Type", "application/octet-stream");
  response.setHeader("Set-Cookie", ["a=1", "b=2"]);
  for (const [name, value] of Object.entries(seen))
    response.setHeader(`X-${name}`, value === undefined ? "" : value);
  response.end(body);
}

function stream(response, gate) {
  response.setHeader("Content-Type", "text/event-stream");
  response.write("data: first\n\n");
  const look = setInterval(() => {
    if (fs.existsSync(gate)) {
      clearInterval(look);
      response.end("data: second\n\n");
    }
  }, 5);
}

function answer(request, response, body) {
  const url = new URL(request.url, "http://localhost");
  const query = url.search.slice(1);
  switch (url.pathname) {
  case "/big":
    response.setHeader("Content-Type", "text/plain");
    response.end("x".repeat(3 << 20));
    break;
  case "/status":
    response.statusCode = Number(query);
    response.setHeader("ETag", '"tag"');
    if (query === "204" || query === "304") {
      response.end();
    } else {
      response.setHeader("Content-Type", "text/plain");
      response.end("a body");
    }
    break;
  case "/stream":
    stream(response, `${process.env.HOLD_DIR}/${query}`);
    break;
  case "/trailers":
    response.setHeader("Trailer", "X-Sum");
    response.write("to the end");
    response.addTrailers({ "X-Sum": "7" });
    response.end();
    break;
  case "/crash":
    kill();
    break;
  case "/half":
    response.setHeader("Content-Length", 200000);
    response.write("x".repeat(100000), () => setImmediate(kill));
    break;
  default:
    echo(request, response, url, body);
  }
}

const server = http.createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => answer(request, response, Buffer.concat(parts)));
});

// Whatever it is that the client wants to speak: say it back to it.
server.on("upgrade", (request, socket, head) => {
  socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" +
               `Upgrade: ${request.headers.upgrade}\r\n\r\n`);
  socket.write(head);
  socket.pipe(socket);
});

server.listen(process.env.LISTEN_FDS ? { fd: 3 }
              : process.env.APPPOOL_SOCKET || process.env.PORT);
