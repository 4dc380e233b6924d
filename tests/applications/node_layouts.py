# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Layouts of applications in JavaScript and TypeScript, for node."""
import json

from commands import NODE, NPM
from layout import add

SERVE = ("http.createServer((request, response) => response.end('NAME'))"
         ".listen(process.env.PORT || 3000);\n")
CJS = "const http = require('http');\n" + SERVE
ESM = "import http from 'node:http';\n" + SERVE
BIN = "#!/usr/bin/env node\n" + CJS  # a program of node_modules/.bin
EXPRESS = """const express = require("express");
const app = express();

app.get("/", (request, response) => response.send("NAME"));
app.listen(3000);
"""
# Debian's Express, where npm would install it. Only Debian's node finds by itself
# what that needs; any other one reads this variable when it starts.
EXPRESS_OF_DEBIAN = {"node_modules/express/index.js": """
process.env.NODE_PATH = '/usr/share/nodejs';
require('module')._initPaths();
module.exports = require('/usr/share/nodejs/express');
"""}


def package(start: str = "", dev: str = "x", **more: object) -> str:
    """The text of a package.json."""
    scripts = {"build": "x", "dev": dev, **({"start": start} if start else {})}
    return json.dumps({"name": "shop", "scripts": scripts, **more})


def node(of: str, name: str, files: dict[str, str], command: str,
         **more: object) -> None:
    if of == "Express":
        files = {**files, **EXPRESS_OF_DEBIAN}
    add("Node", of, name, files, command, **more)


node("Node", "node-app", {"app.js": CJS}, NODE("app.js"))
node("Node", "node-server", {"server.js": CJS}, NODE("server.js"))
node("Node", "node-index", {"index.js": CJS}, NODE("index.js"))
node("Node", "node-server-mjs", {"server.mjs": ESM}, NODE("server.mjs"))
node("Node", "node-index-mjs", {"index.mjs": ESM}, NODE("index.mjs"))
node("Node", "node-module",
     {"index.js": ESM, "package.json": package(type="module")},
     NODE("index.js"))
node("Node", "node-npm-init",
     {"index.js": CJS, "package.json": package(main="index.js")},
     NODE("index.js"))
node("Node", "node-main",
     {"lib/start.js": CJS, "package.json": package(main="./lib/start")},
     NODE("lib/start.js"))
node("Node", "node-src", {"src/index.js": CJS}, NODE("src/index.js"))
node("Node", "node-server-directory",
     {"server/index.js": CJS, "client/index.js": "document.x = 1;\n"},
     NODE("server/index.js"))
node("Node", "node-start",
     {"main.js": CJS, "package.json": package("node main.js")},
     NPM("node main.js"))
node("Node", "node-start-dot",
     {"index.js": CJS, "package.json": package("node .", main="index.js")},
     NPM("node ."))
node("Node", "node-cross-env",
     {"app.js": CJS,
      "package.json": package("cross-env NODE_ENV=production node app.js")},
     NPM("NODE_ENV=production node app.js"))
node("Node", "node-list",
     {"app.js": CJS, "package.json": package("true && node app.js")},
     'export PATH="$PWD/node_modules/.bin:$PATH"; true && node app.js')
node("Node", "node-procfile",
     {"app.js": CJS, "Procfile": "web: node app.js\n"}, "node app.js")
node("Node", "node-procfile-npm",
     {"app.js": CJS, "package.json": package("node app.js"),
      "Procfile": "web: npm start\n"}, NPM("node app.js"))
# What Yarn writes in place of node_modules: hooks for require() and for import.
PNP = {".pnp.cjs": """const Module = require('module');
const find = Module._resolveFilename;
Module._resolveFilename = (name, ...more) => name === 'shop'
  ? `${__dirname}/cache/shop.js` : find(name, ...more);
""", ".pnp.loader.mjs": """export const resolve = (name, context, next) =>
  name !== 'shop' ? next(name, context) : {
    shortCircuit: true, url: new URL('cache/shop.js', import.meta.url).href};
"""}
node("Yarn", "yarn-pnp",
     {"app.js": "require('shop');\n", "cache/shop.js": CJS,
      "package.json": package("node app.js"), **PNP}, NPM("node app.js"),
     stands_in=True)
node("Yarn", "yarn-pnp-module",
     {"app.mjs": "import 'shop';\n", "cache/shop.js": CJS,
      "package.json": package("node app.mjs"), **PNP}, NPM("node app.mjs"),
     stands_in=True)
node("Express", "express", {"app.js": EXPRESS}, NODE("app.js"))
node("Express", "express-index",
     {"index.js": EXPRESS, "package.json": package(main="index.js")},
     NODE("index.js"))
node("Express", "express-generator",
     {"app.js": EXPRESS.replace("app.listen(3000)", "module.exports = app"),
      "bin/www": "#!/usr/bin/env node\nrequire('http').createServer("
      "require('../app')).listen(3000);\n",
      "package.json": package("node ./bin/www")},
     NPM("node ./bin/www"))
node("Express", "express-typescript",
     {"src/index.ts": "import express from 'express';\n",
      "dist/index.js": EXPRESS,
      "package.json": package("node dist/index.js"), "tsconfig.json": "{}"},
     NPM("node dist/index.js"))
node("Express", "express-dist",
     {"src/server.ts": "", "dist/server.js": EXPRESS,
      "package.json": package(), "tsconfig.json": "{}"},
     NODE("dist/server.js"))
TSX = {"node_modules/tsx/package.json":
       '{"name": "tsx", "exports": "./index.mjs"}',
       "node_modules/tsx/index.mjs": """import {register} from 'node:module';
register('data:text/javascript,' + encodeURIComponent(`
import {readFile} from 'node:fs/promises';
export const load = async (url, context, next) => url.endsWith('.ts')
  ? {format: 'module', shortCircuit: true,
     source: await readFile(new URL(url))}
  : next(url, context);`));
"""}
node("TypeScript", "typescript-tsx", {"server.ts": ESM, **TSX},
     NODE("--import tsx server.ts"), stands_in=True)
node("TypeScript", "typescript-src", {"src/index.ts": ESM, **TSX},
     NODE("--import tsx src/index.ts"), stands_in=True)
STANDALONE = ("process.chdir(__dirname);\n"
              "require('next/dist/server/lib/start-server');\n" + CJS)
NEXT = {"node_modules/next/dist/server/lib/start-server.js": ""}
node("Next.js", "next-standalone",
     {"server.js": STANDALONE, "package.json": package("next start"),
      ".next/BUILD_ID": "x", **NEXT}, NODE("server.js"), stands_in=True)
node("Next.js", "next-standalone-below",
     {".next/standalone/server.js": STANDALONE,
      ".next/standalone/node_modules/next/dist/server/lib/start-server.js": "",
      "package.json": package("next start")},
     NODE(".next/standalone/server.js"), stands_in=True)
node("Next.js", "next-start",
     {"node_modules/.bin/next": BIN, "package.json": package("next start")},
     NPM("next start"), stands_in=True)
node("Next.js", "next-not-installed",
     {"server.js": CJS, "package.json": package("next start")},
     NODE("server.js"), stands_in=True)
node("Nuxt", "nuxt-output",
     {"server/index.mjs": "import './chunks/nitro.mjs';\n",
      "server/chunks/nitro.mjs": ESM, "nitro.json": "{}"},
     NODE("server/index.mjs"), stands_in=True)
node("Nuxt", "nuxt",
     {".output/server/index.mjs": ESM, ".output/nitro.json": "{}",
      "package.json": package()}, NODE(".output/server/index.mjs"),
     stands_in=True)
node("Nuxt", "nuxt-start",
     {".output/server/index.mjs": ESM, "package.json": package("nuxt start")},
     NODE(".output/server/index.mjs"), stands_in=True)
node("Nuxt", "nuxt-preview",
     {".output/server/index.mjs": ESM, "node_modules/.bin/nuxt": BIN,
      "package.json": package("nuxt preview")},
     NODE(".output/server/index.mjs"), stands_in=True)
node("SvelteKit", "sveltekit",
     {"build/index.js": "export * from './server/adapter-index.js';\n",
      "build/server/adapter-index.js": ESM, "build/handler.js": "", "package.json":
      package(type="module")}, NODE("build/index.js"), stands_in=True)
node("Astro", "astro",
     {"dist/server/entry.mjs": ESM, "dist/client/index.html": "",
      "node_modules/.bin/astro": BIN,
      "package.json": package("astro dev", type="module")},
     NODE("dist/server/entry.mjs"), stands_in=True)
node("Nest", "nest",
     {"dist/main.js": "import { NestFactory } from '@nestjs/core';\n" + ESM,
      "node_modules/@nestjs/core/index.js": "exports.NestFactory = {};\n",
      "src/main.ts": "", "node_modules/.bin/nest": BIN,
      "package.json": package("nest start", type="module")},
     NODE("dist/main.js"), stands_in=True)
node("Nest", "nest-start",
     {"dist/main.js": "const { NestFactory } = require('@nestjs/core');\n" + CJS,
      "node_modules/@nestjs/core/index.js": "",
      "package.json": package("node dist/main")}, NPM("node dist/main"),
     stands_in=True)
node("Angular", "angular",
     {"dist/shop/server/server.mjs": ESM, "dist/shop/browser/index.html": "",
      "node_modules/.bin/ng": BIN, "package.json": package("ng serve")},
     NODE("dist/shop/server/server.mjs"), stands_in=True)
node("React Router", "react-router",
     {"node_modules/.bin/react-router-serve": BIN, "build/server/index.js": "",
      "package.json": package("react-router-serve ./build/server/index.js")},
     NPM("react-router-serve ./build/server/index.js"), stands_in=True)
node("Strapi", "strapi",
     {"node_modules/.bin/strapi": BIN, "package.json":
      package("strapi start")}, NPM("strapi start"), stands_in=True)
node("Vite", "vite",
     {"node_modules/.bin/vite": BIN, "index.html": "", "package.json":
      package("vite")}, NPM("vite"), stands_in=True)
node("Koa", "koa",
     {"index.js": "const Koa = require('koa');\nnew Koa().listen(3000);\n",
      "node_modules/koa/index.js": "const http = require('http');\n"
      "module.exports = class { listen(port) { http.createServer("
      "(request, response) => response.end('NAME')).listen(port); } };\n"},
     NODE("index.js"), stands_in=True)
node("Fastify", "fastify",
     {"server.js": "const fastify = require('fastify')();\n"
      "fastify.listen({ port: 3000 });\n",
      "node_modules/fastify/index.js": "const http = require('http');\n"
      "module.exports = () => http.createServer((request, response) => "
      "response.end('NAME'));\n"}, NODE("server.js"), stands_in=True)

HTTP = """const http = require('http');
const server = http.createServer((request, response) => response.end('NAME'));
"""
node("Hapi", "hapi",
     {"server.js": "const Hapi = require('@hapi/hapi');\n\n"
      "const init = async () => {\n"
      "  const server = Hapi.server({ port: 3000, host: 'localhost' });\n"
      "  await server.start();\n};\n\ninit();\n",
      "node_modules/@hapi/hapi/index.js": HTTP + "exports.server = (options) =>"
      " ({ start: () => new Promise((resolve) => server.listen(options.port, "
      "options.host, resolve)) });\n"}, NODE("server.js"), stands_in=True)
node("Feathers", "feathers",
     {"src/index.js": "const app = require('./app');\n"
      "const server = app.listen(3030);\n"
      "server.on('listening', () => console.log('started'));\n",
      "src/app.js": "module.exports = require('@feathersjs/express');\n",
      "node_modules/@feathersjs/express/index.js": HTTP
      + "module.exports = server;\n",
      "package.json": package("node src/", main="src")}, NPM("node src/"),
     stands_in=True)
node("AdonisJS", "adonis",
     {"bin/server.js": ESM, "ace.js": "", "start/routes.js": "",
      "package.json": package("node bin/server.js", type="module")},
     NPM("node bin/server.js"), stands_in=True)
node("Meteor", "meteor",
     {"main.js": "require('./programs/server/boot.js');\n", "star.json": "{}",
      "programs/server/boot.js": CJS}, NODE("main.js"), stands_in=True)
node("Sails", "sails",
     {"app.js": "process.chdir(__dirname);\n"
      "const sails = require('sails');\nsails.lift({});\n",
      "node_modules/sails/index.js": HTTP
      + "exports.lift = () => server.listen(1337);\n",
      "package.json": package("NODE_ENV=production node app.js", main="app.js")},
     NPM("NODE_ENV=production node app.js"), stands_in=True)
node("Hono", "hono",
     {"src/index.ts": "import { serve } from '@hono/node-server';\n\n"
      "serve({ fetch: () => 'x', port: 3000 });\n", **TSX,
      "node_modules/@hono/node-server/package.json":
      '{"exports": "./index.mjs"}', "node_modules/@hono/node-server/index.mjs":
      "import http from 'node:http';\nexport const serve = ({ port }) =>\n"
      "  http.createServer((request, response) => response.end('NAME'))"
      ".listen(port);\n",
      "package.json": package(dev="tsx watch src/index.ts", type="module")},
     NODE("--import tsx src/index.ts"), stands_in=True)
node("SvelteKit", "sveltekit-start",
     {"build/index.js": ESM, "build/handler.js": "", "package.json":
      package("node build", type="module")}, NPM("node build"), stands_in=True)
node("SolidStart", "solid-start",
     {".output/server/index.mjs": ESM, ".output/nitro.json": "{}",
      "package.json": package("vinxi start", type="module")},
     NODE(".output/server/index.mjs"), stands_in=True)
node("Remix", "remix",
     {"node_modules/.bin/remix-serve": BIN, "build/server/index.js": "",
      "package.json": package("remix-serve ./build/server/index.js")},
     NPM("remix-serve ./build/server/index.js"), stands_in=True)
node("Vite", "vite-ssr",
     {"server.js": ESM, "index.html": "", "src/main.js": "document.x = 1;\n",
      "dist/client/index.html": "", "dist/server/entry-server.js": "",
      "package.json": package(dev="node server", type="module")},
     NODE("server.js"))
BELOW = ('export PATH="$PWD/node_modules/.bin:$PATH"; cd server && '
         + NPM("node index.js"))
node("Node", "node-workspace",
     {"package.json": package("npm start --workspace server",
                              workspaces=["server"]),
      "server/package.json": package("node index.js"),
      "server/index.js": CJS}, BELOW)
node("Node", "node-server-below",
     {"package.json": package("cd server && npm start"),
      "server/package.json": package("node index.js"),
      "server/index.js": CJS, "client/package.json": package("vite")}, BELOW)
