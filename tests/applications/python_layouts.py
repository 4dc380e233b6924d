# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Layouts of applications in Python."""
from commands import ASGI, LISTEN, WSGI
from layout import add

FLASK = "from flask import Flask\n"
ROUTE = """
@app.route("/")
def hello():
    return "NAME"
"""
APP = f"{FLASK}app = Flask(__name__)\n{ROUTE}"
RUN = '\nif __name__ == "__main__":\n    app.run(debug=True)\n'
FACTORY = (f"{FLASK}\ndef create_app(test_config=None):\n"
           "    app = Flask(__name__, instance_relative_config=True)\n"
           + "\n".join("    " + line for line in ROUTE.splitlines())
           + "\n    return app\n")
PLAIN = """def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"NAME"]
"""
PLAIN_ASGI = """async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"NAME"})
"""
FAST = """from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

app = FastAPI()


@app.get("/", response_class=PlainTextResponse)
async def root():
    return "NAME"
"""
# A module that stands in for a framework: its constructor gives an application.
WSGI_CLASS = f"""class App:
    def __init__(self, *words, **named):
        self.server = self

    def __call__(self, environ, start_response):
        return answer(environ, start_response)

    def __getattr__(self, name):
        return lambda *words, **named: self


{PLAIN.replace("def application", "def answer")}"""
ASGI_CLASS = f"""class App:
    def __init__(self, *words, **named):
        pass

    async def __call__(self, scope, receive, send):
        await answer(scope, receive, send)

    def get(self, path):
        return lambda function: function


{PLAIN_ASGI.replace("def app", "def answer")}"""


def python(of: str, name: str, files: dict[str, str], command: str,
           **more: object) -> None:
    add("Python", of, name, {"requirements.txt": of.lower(), **files}, command,
        **more)


python("Flask", "flask-wsgi", {"wsgi.py": APP.replace("app =", "application =")
                               .replace("@app", "@application")},
       WSGI("wsgi"))
python("Flask", "flask-wsgi-app", {"wsgi.py": APP}, WSGI("wsgi:app"))
python("Flask", "flask-wsgi-imports",
       {"wsgi.py": "from shop import app\n" + RUN, "shop.py": APP},
       WSGI("wsgi:app"))
python("Flask", "flask-wsgi-renames",
       {"wsgi.py": "from shop import app as application\n", "shop.py": APP},
       WSGI("wsgi"))
python("Flask", "flask-wsgi-factory",
       {"wsgi.py": "from app import create_app\n\napp = create_app()\n" + RUN,
        "app/__init__.py": FACTORY}, WSGI("wsgi:app"))
python("Flask", "flask-passenger",
       {"passenger_wsgi.py": "import os\nimport sys\n\n"
        "sys.path.insert(0, os.path.dirname(__file__))\n"
        "from app import app as application\n", "app.py": APP},
       WSGI("passenger_wsgi"))
python("Flask", "flask-quickstart", {"app.py": APP}, WSGI("app:app"))
python("Flask", "flask-hello", {"hello.py": APP + RUN}, WSGI("hello:app"))
python("Flask", "flask-app-factory", {"app.py": FACTORY + RUN.replace(
    "app.run", "create_app().run")}, WSGI("'app:create_app()'"))
python("Flask", "flask-typed-factory",
       {"main.py": FACTORY.replace("test_config=None):", ") -> Flask:")},
       WSGI("'main:create_app()'"))
python("Flask", "flask-tutorial",
       {"flaskr/__init__.py": FACTORY, "flaskr/db.py": "import sqlite3\n",
        "flaskr/auth.py": "from flask import Blueprint\n\n"
        'bp = Blueprint("auth", __name__)\n',
        "tests/conftest.py": "from flaskr import create_app\n",
        "pyproject.toml": '[project]\nname = "flaskr"\n'},
       WSGI("'flaskr:create_app()'"))
python("Flask", "flask-package",
       {"shop/__init__.py": APP + "\nimport shop.views\n",
        "shop/views.py": "from shop import app\n",
        "run.py": "from shop import app\n" + RUN}, WSGI("run:app"))
python("Flask", "flask-mega-tutorial",
       {"microblog.py": "from app import create_app\n\napp = create_app()\n",
        "config.py": "class Config:\n    pass\n", "app/__init__.py": FACTORY},
       WSGI("'app:create_app()'"))
python("Flask", "flask-beanstalk",
       {"application.py": APP.replace("app =", "application =")
        .replace("@app", "@application") + RUN.replace("app.run",
                                                       "application.run")},
       WSGI("application:application"))
python("Flask", "flask-app-engine",
       {"main.py": APP + RUN, "app.yaml": "runtime: python311\n"},
       WSGI("main:app"))
python("Flask", "flask-mod-wsgi",
       {"shop.wsgi": "import os\nimport sys\n\n"
        "sys.path.insert(0, os.path.dirname(__file__))\n"
        "from shop import app as application\n", "shop/__init__.py": APP},
       WSGI("./shop.wsgi"))
python("Flask", "flask-vercel", {"api/index.py": APP, "vercel.json": "{}"},
       WSGI("api.index:app"))
python("Flask", "flask-and-webpack",
       {"app.py": APP, "package.json": '{"scripts": {"start": '
        '"webpack --watch", "build": "webpack"}}'}, WSGI("app:app"))
python("Flask", "flask-and-browser",
       {"app.py": APP, "app.js": "document.title = 'x';\n"}, WSGI("app:app"))
python("Flask", "flask-below",
       {"shop/__init__.py": "", "shop/app.py": APP}, WSGI("shop.app:app"))
python("Flask", "flask-annotated",
       {"app.py": APP.replace("app =", "app: Flask =")}, WSGI("app:app"))
python("Flask", "flask-procfile",
       {"Procfile": "web: gunicorn app:app\n", "app.py": APP},
       "gunicorn app:app")
python("Flask", "flask-website",
       {"main.py": "from website import create_app\n\napp = create_app()\n" + RUN,
        "website/__init__.py": FACTORY, "website/views.py": ""},
       WSGI("main:app"))
IN_SRC = 'PYTHONPATH="src:$PYTHONPATH" '
python("Flask", "flask-src",
       {"src/shop/__init__.py": APP + "\nimport shop.views\n",
        "src/shop/views.py": "", "pyproject.toml": ""},
       IN_SRC + WSGI("shop:app"))
python("WSGI", "wsgi-plain", {"wsgi.py": PLAIN}, WSGI("wsgi"))
python("WSGI", "wsgi-application", {"application.py": PLAIN},
       WSGI("application:application"))
DJANGO_URLS = """from django.http import HttpResponse
from django.urls import path

urlpatterns = [path("", lambda request: HttpResponse("NAME"))]
"""


def django(site: str, settings: str = "settings.py", more: str = ""
           ) -> dict[str, str]:
    """What `django-admin startproject` makes, without its comments."""
    module = f"{site}.{settings[:-3].replace('/', '.')}"
    text = ('import os\n\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", '
            f'"{module}")\n')
    return {
        "manage.py": text + "\nif __name__ == '__main__':\n    from django.core"
        ".management import execute_from_command_line\n",
        f"{site}/__init__.py": "",
        f"{site}/{settings}": "SECRET_KEY = 'x'\nALLOWED_HOSTS = ['*']\n"
        f"ROOT_URLCONF = '{site}.urls'\n"
        f"WSGI_APPLICATION = '{site}.wsgi.application'\n{more}",
        f"{site}/urls.py": DJANGO_URLS,
        f"{site}/wsgi.py": text + "from django.core.wsgi import "
        "get_wsgi_application\n\napplication = get_wsgi_application()\n",
        f"{site}/asgi.py": text + "from django.core.asgi import "
        "get_asgi_application\n\napplication = get_asgi_application()\n"}


python("Django", "django-startproject", django("shop"), WSGI("shop.wsgi"))
python("Django", "django-config",
       {**django("config", "settings/production.py"),
        "config/settings/__init__.py": "",
        "shop/__init__.py": "", "shop/models.py": ""}, WSGI("config.wsgi"))
python("Django", "django-channels",
       django("shop", more="ASGI_APPLICATION = 'shop.asgi.application'\n"),
       ASGI("shop.asgi:application"))
python("Django", "django-and-vite",
       {**django("shop"), "package.json": '{"scripts": {"start": "vite"}}'},
       WSGI("shop.wsgi"))
python("FastAPI", "fastapi-tutorial", {"main.py": FAST}, ASGI("main:app"))
python("FastAPI", "fastapi-bigger",
       {"app/__init__.py": "", "app/main.py": FAST,
        "app/routers/__init__.py": ""}, ASGI("app.main:app"))
python("FastAPI", "fastapi-app", {"app.py": FAST}, ASGI("app:app"))
python("FastAPI", "fastapi-asgi", {"asgi.py": FAST}, ASGI("asgi:app"))
python("FastAPI", "fastapi-backend",
       {"backend/__init__.py": "", "backend/main.py": FAST,
        "frontend/index.html": ""}, ASGI("backend.main:app"))
python("FastAPI", "fastapi-imports",
       {"main.py": "import uvicorn\nfrom shop.api import app\n\n"
        "if __name__ == '__main__':\n    uvicorn.run(app)\n",
        "shop/__init__.py": "", "shop/api.py": FAST}, ASGI("main:app"))
python("FastAPI", "fastapi-factory",
       {"main.py": "from fastapi import FastAPI\n"
        "from fastapi.responses import PlainTextResponse\n\n\n"
        "def create_app() -> FastAPI:\n    made = FastAPI()\n"
        "    made.get('/', response_class=PlainTextResponse)(\n"
        "        lambda: 'NAME')\n    return made\n"},
       ASGI("--factory main:create_app"))
python("FastAPI", "fastapi-procfile",
       {"main.py": FAST, "Procfile": "web: gunicorn -k uvicorn.workers."
        "UvicornWorker main:app\n"},
       "gunicorn -k uvicorn.workers.UvicornWorker main:app")
python("Starlette", "starlette",
       {"main.py": "from starlette.applications import Starlette\n"
        "from starlette.responses import PlainTextResponse\n"
        "from starlette.routing import Route\n\n"
        "async def home(request):\n    return PlainTextResponse('NAME')\n\n"
        "app = Starlette(debug=True, routes=[Route('/', home)])\n"},
       ASGI("main:app"))
python("Quart", "quart",
       {"app.py": "from quart import Quart\n\napp = Quart(__name__)\n\n"
        "@app.route('/')\nasync def hello():\n    return 'NAME'\n\n"
        "if __name__ == '__main__':\n    app.run()\n"}, ASGI("app:app"))
python("Bottle", "bottle",
       {"app.py": "from bottle import Bottle, run\n\napp = Bottle()\n\n"
        "@app.route('/')\ndef hello():\n    return 'NAME'\n\n"
        "if __name__ == '__main__':\n    run(app, port=8080)\n"},
       WSGI("app:app"))
python("Bottle", "bottle-default",
       {"app.py": "import bottle\n\n@bottle.route('/')\ndef hello():\n"
        "    return 'NAME'\n\napplication = bottle.default_app()\n"},
       WSGI("app:application"))
# As in its tutorial, the programs start a server whoever reads them.
python("Bottle", "bottle-runs",
       {"hello.py": "from bottle import Bottle, run\n\napp = Bottle()\n\n"
        "@app.route('/')\ndef hello():\n    return 'NAME'\n\n"
        "run(app, host='localhost', port=8080)\n"}, WSGI("hello:app"))
python("Bottle", "bottle-implicit",
       {"todo.py": "from bottle import route, run\n\n@route('/')\n"
        "def hello():\n    return 'NAME'\n\nrun(reloader=True)\n"},
       WSGI("todo"))
python("Flask", "flask-runs", {"app.py": APP + "\napp.run(port=8080)\n"},
       WSGI("app:app"))
python("Falcon", "falcon-tutorial",
       {"look/__init__.py": "", "look/images.py": "import falcon\n\n\n"
        "class Resource:\n    def on_get(self, req, resp):\n"
        "        resp.text = 'NAME'\n",
        "look/app.py": "import falcon\nfrom .images import Resource\n\n"
        "api = application = falcon.App()\n"
        "api.add_route('/images', Resource())\n"}, WSGI("look.app:api"),
       path="/images")
python("Falcon", "falcon",
       {"app.py": "import falcon\n\n\nclass Hello:\n"
        "    def on_get(self, req, resp):\n        resp.text = 'NAME'\n\n\n"
        "app = falcon.App()\napp.add_route('/', Hello())\n"}, WSGI("app:app"))
python("Falcon", "falcon-asgi",
       {"main.py": "import falcon\nimport falcon.asgi\n\n\nclass Hello:\n"
        "    async def on_get(self, req, resp):\n        resp.text = 'NAME'\n"
        "\n\napp = falcon.asgi.App()\napp.add_route('/', Hello())\n"},
       ASGI("main:app"))
python("ASGI", "asgi-plain", {"main.py": PLAIN_ASGI}, ASGI("main:app"))
python("ASGI", "asgi-src",
       {"src/main.py": "from fastapi import FastAPI\nfrom config import TITLE\n"
        "import routes\n\napp = FastAPI(title=TITLE)\n",
        "src/config.py": "TITLE = 'shop'\n", "src/routes.py": "",
        "fastapi.py": ASGI_CLASS.replace("App:", "FastAPI:")},
       IN_SRC + ASGI("src.main:app"), stands_in=True)
python("ASGI", "asgi-named",
       {"asgi.py": PLAIN_ASGI.replace("def app", "def application")},
       ASGI("asgi:application"))
for of, constructor, module, text, file in (
        ("Dash", "Dash", "dash", "app = Dash(__name__)\nserver = app.server\n",
         "app.py"),
        ("web.py", "application", "web",
         "application = web.application((), globals()).wsgifunc()\n",
         "main.py"),
        ("Pyramid", "Configurator", "pyramid",
         "config = pyramid.Configurator()\napp = config.make_wsgi_app()\n",
         "app.py")):
    how = f"import {module}\n" if module != "dash" else "from dash import Dash\n"
    python(of, of.lower().replace(".", "-"),
           {file: how + "\n" + text,
            f"{module}.py": WSGI_CLASS.replace("App:", f"{constructor}:")},
           WSGI({"Dash": "app:server", "Pyramid": "app:app",
                 "web.py": "main:application"}[of]), stands_in=True)
for of, constructor, text, file in (
        ("Sanic", "Sanic", 'app = Sanic("shop")\n', "server.py"),
        ("Litestar", "Litestar", "app = Litestar([])\n", "app.py"),
        ("BlackSheep", "Application", "app = Application()\n", "main.py")):
    python(of, of.lower(),
           {file: f"from {of.lower()} import {constructor}\n\n{text}",
            f"{of.lower()}.py": ASGI_CLASS.replace("App:", f"{constructor}:")},
           ASGI(f"{file[:-3]}:app"), stands_in=True)

# Programs that listen by themselves.
STAND_IN = """import asyncio


async def respond(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: LENGTH\\r\\n"
                 b"Connection: close\\r\\n\\r\\nNAME")
    await writer.drain()
    writer.close()


async def serve(port):
    return await asyncio.start_server(respond, port=port)


async def forever():
    await (await serve(8080)).serve_forever()


"""


def listens(of: str, name: str, files: dict[str, str], library: str = "",
            text: str = "") -> None:
    """Text is what the library has besides its server."""
    if library:
        files = {**files, library: STAND_IN.replace("LENGTH", str(len(name)))
                 + text}
    python(of, name, files, LISTEN(next(iter(files))), stands_in=bool(library))


WEB = """class Application(dict):
    def add_routes(self, routes):
        pass


def run_app(app, **options):
    asyncio.run(forever())
"""
listens("aiohttp", "aiohttp",
        {"main.py": "from aiohttp import web\n\napp = web.Application()\n"
         "app.add_routes([])\n\nif __name__ == '__main__':\n"
         "    web.run_app(app)\n"}, "aiohttp/web.py", WEB)
listens("aiohttp", "aiohttp-factory",
        {"server.py": "from aiohttp import web\n\n\nasync def init_app():\n"
         "    return web.Application()\n\n\nweb.run_app(init_app(), port=5000)\n"},
        "aiohttp/web.py", WEB)
listens("Tornado", "tornado",
        {"main.py": "import asyncio\n\nimport tornado.web\n\n\n"
         "def make_app():\n    return tornado.web.Application([])\n\n\n"
         "async def main():\n    app = make_app()\n    app.listen(8888)\n"
         "    await asyncio.Event().wait()\n\n\n"
         "if __name__ == '__main__':\n    asyncio.run(main())\n"},
        "tornado/web.py", """class Application:
    def __init__(self, routes):
        pass

    def listen(self, port):
        asyncio.ensure_future(serve(port))
""")
listens("CherryPy", "cherrypy",
        {"hello.py": "import cherrypy\n\n\nclass Hello:\n"
         "    @cherrypy.expose\n    def index(self):\n        return 'x'\n\n\n"
         "cherrypy.quickstart(Hello())\n"}, "cherrypy.py",
        """def expose(function):
    return function


def quickstart(root):
    asyncio.run(forever())
""")
listens("http.server", "http-server",
        {"server.py": "from http.server import BaseHTTPRequestHandler, "
         "HTTPServer\n\n\nclass Handler(BaseHTTPRequestHandler):\n"
         "    def do_GET(self):\n        self.send_response(200)\n"
         "        self.end_headers()\n        self.wfile.write(b'NAME')\n\n\n"
         "HTTPServer(('', 8000), Handler).serve_forever()\n"})
listens("wsgiref", "wsgiref",
        {"hello.py": "from wsgiref.simple_server import make_server\n\n\n"
         + PLAIN.replace("def application", "def hello")
         + "\n\nif __name__ == '__main__':\n"
         "    with make_server('0.0.0.0', 6543, hello) as server:\n"
         "        server.serve_forever()\n"})
python("web2py", "web2py",
       {"wsgihandler.py": "import gluon.main\n\n"
        "application = gluon.main.wsgibase\n", "gluon/main.py":
        PLAIN.replace("application", "wsgibase"), "web2py.py": "",
        "anyserver.py": ""}, WSGI("wsgihandler"), stands_in=True)
