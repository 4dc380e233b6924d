# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications of frameworks of node, as npm installs and the frameworks build
them: integration/npm_apps.py does so, and runs them. Each is as short as
possible. `/` says Hello, and `/who` which process answers, and to whom, as far as
the framework knows that: pid=... client=..."""
import json
from typing import NamedTuple

from commands import NODE, NPM

# Node is a package, too. The first builds, and each of them runs what was built.
NODES = ("24.22.3", "22.23.5", "26.12.1")
TOOLS = {"npm": "11.19.1", "pnpm": "12.21.0", "@yarnpkg/cli-dist": "4.18.1"}
# What is not named here is as new as it was on that day.
DAY = "2026-11-29"

ALL = '. "$ROOT"'


class Way(NamedTuple):
    """How it is laid out, and run."""
    name: str
    command: str  # what is found; "": there is an AppCommand
    said: str = ""  # the same, for doc/apps.md; "": there is a better example
    copied: str = ALL  # from the project: arguments of cp
    files: dict[str, str] = {}  # more of them
    directives: tuple[str, ...] = ()
    says: str = ""  # a warning in the log


class Project(NamedTuple):
    framework: str
    name: str
    packages: dict[str, str]
    files: dict[str, str]
    ways: tuple[Way, ...]
    package: dict[str, object]  # package.json, but for its packages
    install: str
    build: str
    form: bool  # `/` has a form, and shows the name that it sends
    missing: int  # the status of a page that does not exist
    who: bool  # there is such a page
    nodes: tuple[str, ...]
    version: str  # of the package that it is about, with its name


PROJECTS: dict[str, Project] = {}


def scripts(module: bool = True, **named: str) -> dict[str, object]:
    return {"scripts": named, **({"type": "module"} if module else {})}


def start(script: str, module: bool = True) -> dict[str, str]:
    """A package.json with another start script."""
    return {"package.json": json.dumps(scripts(module, start=script))}


def add(framework: str, name: str, packages: dict[str, str],
        files: dict[str, str], *ways: Way, package: dict[str, object] = {},
        install: str = f"npm install --before={DAY}", build: str = "",
        form: bool = False, missing: int = 404, who: bool = True,
        nodes: tuple[str, ...] = NODES, tool: str = "") -> None:
    """@param tool that installs it; otherwise it is about its first package"""
    assert name not in PROJECTS
    about = tool or next(iter(packages))
    PROJECTS[name] = Project(framework, name, packages, files, ways, package,
                             install, build, form, missing, who, nodes,
                             f"{about} {(TOOLS | packages)[about]}")


# ---- servers

def who(client: str) -> str:
    return "`pid=${process.pid} client=${%s}`" % client


EXPRESS = f"""const app = require("express")();
app.get("/", (request, response) => response.send("Hello"));
app.get("/who", (request, response) => response.send({who("request.ip")}));
app.listen(3000);
"""
add("Express", "express", {"express": "5.3.0"}, {"app.js": EXPRESS},
    Way("express", NODE("app.js"), "`app.js`"),
    Way("yarn", NPM("node app.js"), "`yarn start`",
        files={"Procfile": "web: yarn start\n", **start("node app.js", False)}))
add("Express", "express-generator", {"express-generator": "4.16.1"}, {},
    Way("generated", NPM("node ./bin/www"), "what express-generator 4 makes",
        'site/. "$ROOT"'),
    build="npx express --no-view site && cd site && npm install &&\n"
    "echo Hello >public/index.html", who=False)
add("Yarn", "yarn-pnp", {"express": "5.3.0"},
    {"app.js": EXPRESS, "yarn.lock": ""},
    Way("pnp", NPM("node app.js"), "`node app.js` with .pnp.cjs"),
    Way("pnp-yarn", NPM("node app.js"), "`yarn start`",
        files={"Procfile": "web: yarn start\n"}),
    Way("pnp-module", NPM("node app.mjs"), files={
        "app.mjs": 'import express from "express";\n' + EXPRESS.replace(
            'require("express")', "express"), **start("node app.mjs", False)}),
    install="YARN_PNP_ENABLE_ESM_LOADER=true yarn-4 install",
    package=scripts(False, start="node app.js"),
    tool="@yarnpkg/cli-dist")
add("Fastify", "fastify", {"fastify": "5.12.8", "fastify-cli": "8.0.2"},
    {"server.js": f"""const app = require("fastify")();
app.register(require("./app"));
app.listen({{ port: 3000 }});
""", "app.js": f"""module.exports = async (app, options) => {{
  app.get("/", async () => "Hello");
  app.get("/who", async (request) => {who("request.ip")});
}};
"""}, Way("fastify", NODE("server.js"), "`server.js`"),
    Way("fastify-cli", NPM("fastify start -l info app.js"), "`fastify start`",
        files=start("fastify start -l info app.js", False)))
add("Koa", "koa", {"koa": "3.3.0"}, {"index.js": f"""const Koa = require("koa");
const app = new Koa();
app.use((context) => {{
  if (context.path === "/")
    context.body = "Hello";
  if (context.path === "/who")
    context.body = {who("context.ip")};
}});
app.listen(3000);
"""}, Way("koa", NODE("index.js"), "`index.js`"),
    package={"main": "index.js"})
HONO = f"""import {{ serve }} from "@hono/node-server";
import {{ getConnInfo }} from "@hono/node-server/conninfo";
import {{ Hono }} from "hono";

const app = new Hono();
app.get("/", (context) => context.text("Hello"));
app.get("/who", (context) =>
  context.text({who("getConnInfo(context).remote.address")} as string));
serve({{ fetch: app.fetch, port: 3000 }});
"""
PACKAGES_HONO = {"hono": "4.13.19", "@hono/node-server": "2.1.9"}
TSCONFIG = {"module": "nodenext", "target": "es2023", "rootDir": "src",
            "outDir": "dist", "types": ["node"], "skipLibCheck": True}
add("Hono", "hono", {**PACKAGES_HONO, "typescript": "6.0.3",
                     "@types/node": "24"},
    {"src/index.ts": HONO,
     "tsconfig.json": json.dumps({"compilerOptions": TSCONFIG})},
    Way("hono", NPM("node dist/index.js"), "`node dist/index.js`, of tsc"),
    package=scripts(start="node dist/index.js"), build="npx tsc")
add("TypeScript", "tsx", {"tsx": "4.23.15", **PACKAGES_HONO}, {"src/index.ts": HONO},
    Way("tsx", NPM("node --import tsx src/index.ts"), "`tsx src/index.ts`"),
    Way("tsx-file", NODE("--import tsx src/index.ts"), "`src/index.ts`",
        files={"package.json": json.dumps(scripts())}),
    Way("tsx-server", NODE("--import tsx server.ts"),
        files={"package.json": json.dumps(scripts()), "server.ts": HONO}),
    package=scripts(start="tsx src/index.ts"))
add("pnpm", "pnpm", {"tsx": "4.23.15", "fastify": "5.12.8",
                     "fastify-cli": "8.0.2", **PACKAGES_HONO},
    {"src/index.ts": HONO,
     "app.js": "export default async (app, options) => "
     'app.get("/", async () => "Hello");\n',
     "pnpm-workspace.yaml": "allowBuilds:\n  esbuild: false\n"},
    Way("pnpm-start", NPM("node --import tsx src/index.ts"), "`pnpm start`",
        files={"Procfile": "web: pnpm start\n"}),
    Way("pnpm-exec", "node --import tsx src/index.ts", "`pnpm exec tsx`",
        files={"Procfile": "web: pnpm exec tsx src/index.ts\n"}),
    package=scripts(start="tsx src/index.ts"), install="pnpm install",
    tool="pnpm")
add("TypeScript", "ts-node", {"ts-node": "10.9.2", "express": "5.3.0",
                           "typescript": "5.9.3", "@types/node": "24"},
    {"app.ts": EXPRESS.replace("const app", "const app: any")
     .replace("(request, response)", "(request: any, response: any)"),
     "tsconfig.json": '{"compilerOptions": {"module": "commonjs", "types": '
     '["node"]}}'},
    Way("ts-node", NPM("ts-node app.ts"), "`ts-node app.ts`"),
    package=scripts(False, start="ts-node app.ts"))
add("Nest", "nest",
    {"@nestjs/core": "12.5.1", "@nestjs/common": "12.5.1",
     "@nestjs/platform-express": "12.5.1", "@nestjs/cli": "12.0.8",
     "reflect-metadata": "0.2.2", "rxjs": "7.8.2", "typescript": "6.0.3",
     "@types/node": "24"},
    {"src/main.ts": """import { NestFactory } from "@nestjs/core";
import { AppModule } from "./app.module.js";

const app = await NestFactory.create(AppModule);
await app.listen(process.env.PORT ?? 3000);
""", "src/app.module.ts":
     f"""import {{ Controller, Get, Module, Req }} from "@nestjs/common";

@Controller()
class AppController {{
  @Get() hello() {{ return "Hello"; }}
  @Get("who") who(@Req() request: any) {{ return {who("request.ip")}; }}
}}

@Module({{ controllers: [AppController] }})
export class AppModule {{}}
""", "nest-cli.json": '{"sourceRoot": "src"}', "tsconfig.json": json.dumps(
        {"compilerOptions": {**TSCONFIG, "experimentalDecorators": True,
                             "emitDecoratorMetadata": True}})},
    Way("nest", NODE("dist/main.js"), "`nest start`"),
    Way("nest-prod", NPM("node dist/main"), "`npm run start:prod`",
        files={"Procfile": "web: npm run start:prod\n"}),
    Way("nest-dist", NODE("dist/main.js"), "`dist/` without a start script",
        files={"package.json": '{"type": "module"}'}),
    package=scripts(**{"build": "nest build", "start": "nest start",
                       "start:prod": "node dist/main"}), build="npm run build")

# ---- pages that a server renders

REACT = {"react": "19.3.1", "react-dom": "19.3.1"}
NEXT = {"app/layout.js": "export default function Layout({ children }) {\n"
        "  return <html><body>{children}</body></html>;\n}\n",
        "app/page.js": """import { cookies } from "next/headers";

async function send(data) {
  "use server";
  (await cookies()).set("name", data.get("name"));
}

export default async function Page() {
  const name = (await cookies()).get("name")?.value;
  return <form action={send}>Hello {name}<input name="name"/></form>;
}
""", "app/who/route.js": """export const dynamic = "force-dynamic";
export function GET({ headers }) {
  return new Response(`pid=${process.pid} client=${headers.get(
    "x-forwarded-for")}`);
}
""", "public/robots.txt": "User-agent: *\n",
        "next.config.js": 'module.exports = { output: "standalone" };\n'}
STATIC = ' && cp -al .next/static "$ROOT/%s.next/" && cp -al public "$ROOT/%s"'
add("Next.js", "next", {"next": "16.4.6", **REACT}, NEXT,
    Way("next-start", NPM("next start"), "`next start`"),
    Way("next-standalone", NODE("server.js"), "a copy of `.next/standalone`",
        '.next/standalone/. "$ROOT"' + STATIC % ("", "")),
    Way("next-in-place", NODE(".next/standalone/server.js"),
        "`.next/standalone` in the project", ALL + STATIC % (
            (".next/standalone/",) * 2)),
    package=scripts(False, build="next build", start="next start"),
    build="npm run build", form=True)
NITRO = {"routes/index.ts": "export default () => 'Hello';\n",
         "routes/who.ts": "export default () => `pid=${process.pid}`;\n"}
add("Nuxt", "nuxt", {"nuxt": "4.5.2"},
    {"app/app.vue": "<template><p>Hello</p></template>\n",
     "server/routes/who.ts": "export default defineEventHandler((event) => "
     "`pid=${process.pid} client=${getRequestIP(event)}`);\n",
     "nuxt.config.ts":
     f"export default defineNuxtConfig({{ compatibilityDate: '{DAY}' }});\n"},
    Way("nuxt", NODE(".output/server/index.mjs"), "`.output` in the project"),
    Way("nuxt-output", NODE("server/index.mjs"), "a copy of `.output`",
        '.output/. "$ROOT"'),
    Way("nuxt-preview", NODE(".output/server/index.mjs"), "`nuxt preview`",
        files=start("nuxt preview")),
    package=scripts(build="nuxt build", dev="nuxt dev"), build="npm run build",
    missing=200)
add("Nitro", "nitro", {"nitro": "3.0.0", "rollup": "4"}, NITRO,
    Way("nitro", NODE(".output/server/index.mjs"), "`.output` in the project"),
    package=scripts(build="nitro build"), build="npm run build")
add("SvelteKit", "sveltekit",
    {"@sveltejs/kit": "3.2.0", "@sveltejs/adapter-node": "6.0.1",
     "@sveltejs/vite-plugin-svelte": "7.3.1", "svelte": "5.57.3",
     "vite": "8.4.0"},
    {"src/app.html": "<html><head>%sveltekit.head%</head>"
     "<body>%sveltekit.body%</body></html>\n",
     "src/routes/+page.svelte": "<script>let { form } = $props();</script>\n"
     '<form method="POST">Hello {form?.name}<input name="name"></form>\n',
     "src/routes/+page.server.js": """export const actions = {
  default: async ({ request }) =>
    ({ name: (await request.formData()).get("name") }),
};
""", "src/routes/who/+server.js":
     "export const GET = ({ getClientAddress }) =>\n"
     f"  new Response({who('getClientAddress()')});\n",
     "vite.config.js": """import adapter from "@sveltejs/adapter-node";
import { sveltekit } from "@sveltejs/kit/vite";

export default { plugins: [sveltekit({ adapter: adapter() })] };
"""},
    Way("sveltekit", NODE("build/index.js"), "`build/`"),
    Way("sveltekit-start", NPM("node build"), "`node build`",
        files=start("node build")),
    package=scripts(build="vite build", dev="vite dev"), build="npm run build",
    form=True)
add("Astro", "astro", {"astro": "7.3.5", "@astrojs/node": "11.1.6"},
    {"src/pages/index.astro": """---
let name = "";
if (Astro.request.method === "POST")
  name = (await Astro.request.formData()).get("name");
---
<form method="POST">Hello {name}<input name="name"></form>
""", "src/pages/who.js": "export const GET = ({ clientAddress }) =>\n"
     f"  new Response({who('clientAddress')});\n",
     "astro.config.mjs": """import node from "@astrojs/node";

export default { output: "server", adapter: node({ mode: "standalone" }) };
"""},
    Way("astro", NODE("dist/server/entry.mjs"), "`dist/`, beside `astro dev`"),
    package=scripts(build="astro build", start="astro dev"),
    build="npm run build", form=True)
add("React Router", "react-router",
    {"react-router": "8.4.0", "@react-router/serve": "8.4.0",
     "@react-router/node": "8.4.0", "@react-router/dev": "8.4.0",
     "isbot": "5", "vite": "8.4.0", **REACT},
    {"app/root.jsx": 'import { Outlet } from "react-router";\n\n'
     "export default () => <html><body><Outlet/></body></html>;\n",
     "app/routes.js": """import { index, route } from "@react-router/dev/routes";

export default [index("home.jsx"), route("who", "who.js")];
""", "app/home.jsx": """import { Form } from "react-router";

export const action = async ({ request }) =>
  ({ name: (await request.formData()).get("name") });

export default ({ actionData }) =>
  <Form method="post" action="?index">Hello {actionData?.name}
    <input name="name"/></Form>;
""", "app/who.js": "export const loader = () =>\n"
     "  new Response(`pid=${process.pid}`);\n",
     "vite.config.js": """import { reactRouter } from "@react-router/dev/vite";

export default { plugins: [reactRouter()] };
"""},
    Way("react-router", NPM("react-router-serve ./build/server/index.js"),
        "`react-router-serve`"),
    package=scripts(build="react-router build",
                    start="react-router-serve ./build/server/index.js"),
    build="npm run build", form=True)
# The versions that `ng new` writes do not fit each other at all times.
add("Angular", "angular", {"@angular/cli": "22.2.0"}, {},
    Way("angular", NODE("dist/shop/server/server.mjs"),
        "`dist/`, beside `ng serve`", 'shop/. "$ROOT"',
        directives=("AppSetEnv NG_ALLOWED_HOSTS angular",)),
    build=r"""npx ng new shop --ssr --style css --defaults --skip-git \
        --skip-tests --skip-install &&
        sed -Ei 's/("@angular.*": )"[^"]*"/\1"22.2.0"/' shop/package.json &&
        echo '<p>Hello</p>' >shop/src/app/app.html && cd shop &&
        npm install && npm run build""", who=False)
add("Vite", "vite", {"vite": "8.4.0", "serve": "14.2.7"},
    {"index.html": "<p>Hello</p>"},
    Way("vite-serve", NPM("serve -s dist"), "`serve -s dist`",
        files=start("serve -s dist")),
    Way("vite", NPM("vite"), "`vite`, for development", files={
        "vite.config.js": "export default { server: { allowedHosts: true } };"
        "\n", **start("vite")}, says="vite is for development"),
    package=scripts(build="vite build", dev="vite"), build="npm run build",
    missing=200, who=False)

# ---- other programs than node

BUN = """const { APPPOOL_SOCKET: unix, PORT: port } = process.env;
Bun.serve({
  ...(unix ? { unix } : { hostname: "127.0.0.1", port }),
  routes: {
    "/": () => new Response("Hello"),
    "/who": () => new Response(`pid=${process.pid}`),
  },
  fetch: () => new Response("", { status: 404 }),
});
"""
add("Bun", "bun", {"bun": "1.4.5"}, {"server.ts": BUN},
    Way("bun-unix", "", "`bun server.ts`", directives=(
        "AppListen unix", 'AppCommand "bun server.ts"')),
    Way("bun-tcp", "", directives=(
        "AppListen tcp", 'AppCommand "bun run server.ts"')),
    Way("bun-start", NPM("bun server.ts"), "the same as a start script",
        files=start("bun server.ts"), directives=("AppListen unix",)),
    nodes=NODES[:1])
ANSWER = """const answer = (request: Request) => {
  const { pathname } = new URL(request.url);
  return pathname === "/" ? new Response("Hello")
    : pathname === "/who" ? new Response(`pid=${Deno.pid}`)
    : new Response("", { status: 404 });
};
"""
DENO = "DENO_SERVE_ADDRESS=unix:$APPPOOL_SOCKET deno run -A main.ts"
add("Deno", "deno", {"deno": "2.9.6"},
    {"main.ts": ANSWER + "Deno.serve(answer);\n",
     "serve.ts": ANSWER + "export default { fetch: answer };\n",
     "tcp.ts": ANSWER + 'Deno.serve({ hostname: "127.0.0.1", '
     'port: Number(Deno.env.get("PORT")) }, answer);\n'},
    Way("deno-unix", "", "`deno run -A main.ts`", directives=(
        "AppListen unix", f'AppCommand "{DENO}"')),
    Way("deno-tcp", "", directives=(
        "AppListen tcp",
        'AppCommand "deno run --allow-net --allow-env tcp.ts"')),
    Way("deno-serve", "", "`deno serve serve.ts`", directives=(
        "AppListen tcp",
        'AppCommand "deno serve -A --host 127.0.0.1 --port $PORT serve.ts"')),
    Way("deno-start", NPM(DENO), "the same as a start script",
        files=start(DENO), directives=("AppListen unix",)), nodes=NODES[:1])
