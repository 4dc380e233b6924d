// Licensed under the Apache License, Version 2.0; see LICENSE.
// Who is logged in is in the session.
const express = require("express");
const app = express();

app.use(require("./session"), express.urlencoded({ extended: false }));

app.post("/login", async (request, response, next) => {
  request.session.name = request.body.name;
  await request.save().then(() => response.send("welcome"), next);
});

app.get("/", async (request, response, next) => {
  const session = request.session;
  session.count = (session.count || 0) + 1;
  const text = `Hello, ${session.name || "stranger"}, ${session.count}`;
  await request.save().then(() => response.send(text), next);
});

app.listen(3000);
