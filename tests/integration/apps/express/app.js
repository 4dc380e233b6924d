// Licensed under the Apache License, Version 2.0; see LICENSE.
// Log in, upload a file, download it; of several processes any may be asked.
const busboy = require("busboy");
const cookies = require("cookie-parser");
const crypto = require("crypto");
const express = require("express");
const fs = require("fs");
const path = require("path");

const base = process.env.APP_BASE_URI;
const files = path.join(__dirname, "files");
const app = express();

function page(response, content) {
  response.send(`<!doctype html><title>Files</title>${content}`);
}

function form(request, action, fields) {
  return `<form method="post" action="${base}${action}"
      enctype="${fields.includes("file") ? "multipart/form-data" : ""}">
    <input type="hidden" name="token" value="${request.token}">
    ${fields} <button>Send</button></form>`;
}

// Whose cookie is not the form's was sent here by another site.
function ours(request, response, token) {
  if (token === request.token)
    return true;
  response.status(403).send("Forbidden");
  return false;
}

app.use(cookies(process.env.SECRET), express.urlencoded({ extended: false }));
app.use((request, response, next) => {
  request.token = request.signedCookies.token
    || crypto.randomBytes(16).toString("hex");
  response.cookie("token", request.token,
    { signed: true, httpOnly: true, sameSite: "strict", path: `${base}/` });
  next();
});

app.get("/login", (request, response) => page(response,
  form(request, "/login", `<input name="user">
    <input type="password" name="password">`)));

app.post("/login", (request, response) => {
  if (!ours(request, response, request.body.token))
    return;
  if (request.body.password !== process.env.PASSWORD)
    return response.redirect(`${base}/login`);
  response.cookie("user", request.body.user,
    { signed: true, httpOnly: true, path: `${base}/` });
  response.redirect(`${base}/`);
});

app.use((request, response, next) =>
  request.signedCookies.user ? next() : response.redirect(`${base}/login`));

app.get("/", (request, response) => page(response,
  `Hello, ${request.signedCookies.user} <ul>`
    + fs.readdirSync(files).map(name => `<li>${name}`).join("") + "</ul>"
    + form(request, "/upload", '<input type="file" name="file">')));

app.post("/upload", (request, response) => {
  const form = busboy({ headers: request.headers });
  let token, last = Promise.resolve();
  form.on("field", (name, value) => { token = value; });
  form.on("file", (name, file, { filename }) => {
    if (token !== request.token)
      return file.resume();
    last = new Promise((resolve, reject) => file.pipe(fs.createWriteStream(
      path.join(files, path.basename(filename))))
      .on("finish", resolve).on("error", reject));
  });
  form.on("close", () => ours(request, response, token)
    && last.then(() => response.redirect(`${base}/`)));
  request.pipe(form);
});

app.get("/files/:name", (request, response) =>
  response.download(request.params.name, { root: files }));

app.listen(process.env.LISTEN_FDS ? { fd: 3 } : 3000);
