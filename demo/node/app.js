// Licensed under the Apache License, Version 2.0; see LICENSE.
// Found by its name: mod_apppool runs node for an app.js, and gives it the
// socket to listen on in place of the port.
const http = require("http");

let requests = 0;

const server = http.createServer((request, response) => {
  const mount = request.headers["x-forwarded-prefix"] || "";
  requests += 1;
  response.setHeader("Content-Type", "text/plain; charset=utf-8");
  response.end(`Hello from Node, process ${process.pid}: request ` +
               `${requests} here, for ${mount}${request.url}\n`);
});

server.listen(process.env.PORT || 3000);
