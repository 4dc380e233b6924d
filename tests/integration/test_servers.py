# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Real app servers, detected by the files of the app."""
import shutil
import subprocess
from pathlib import Path
from typing import Optional

import pytest

from harness import sentences
from harness.client import Connection
from harness.config import App
from harness.httpd import Httpd
from harness.places import TOP
from harness.procs import alive, command
from harness.wait import wait_until

SERVERS = {"python": "/python/wsgi.py", "ruby": "puma", "node": "node"}


def demo(httpd: Httpd, language: str, *directives: str) -> App:
    app = httpd.app(language, *directives, command=None)
    for file in (TOP / "demo" / language).iterdir():
        shutil.copy(file, app.root)
    return app


@pytest.mark.mpms("prefork", "worker", "event")
@pytest.mark.parametrize("language", list(SERVERS))
def test_server(httpd: Httpd, language: str) -> None:
    """Start, serve, keep the client's connection, deploy, stop."""
    app = demo(httpd, language)
    httpd.start()
    client = Connection(httpd.port, 60)
    responses = [client.request("GET", "/hello", language) for _ in range(5)]
    client.close()
    assert [response.status for response in responses] == [200] * 5
    assert all("/hello" in response.text for response in responses)
    assert "request 5 here" in responses[-1].text
    (pid,) = httpd.pids(app)
    assert SERVERS[language] in command(pid)
    assert httpd.get("/a?b=c", language).status == 200
    assert httpd.request("HEAD", "/", language).body == b""
    assert httpd.post("/", language, b"x" * 1000).status == 200
    app.touch()
    wait_until(lambda: "request 1 here" in httpd.get("/hello", language).text,
               "the new process serves", 60)
    wait_until(lambda: not alive(pid), "the old process is gone")


@pytest.mark.mpms("event")
def test_all_at_once(httpd: Httpd) -> None:
    httpd.directives.append("MaxPoolSize 6")
    for language in SERVERS:
        demo(httpd, language, "MaxInstances 2")
    httpd.start()
    pending = [httpd.get_async("/x", language, timeout=60)
               for language in SERVERS for _ in range(4)]
    assert {one.result(60).status for one in pending} == {200}
    httpd.check()


@pytest.mark.mpms("event")
@pytest.mark.parametrize("location", [None, "/mnt/shop"])
def test_rack_knows_its_path(httpd: Httpd, location: Optional[str]) -> None:
    """In the variable from which all Rack frameworks make links."""
    app = httpd.app("shop", command=None, location=location)
    (app.root / "config.ru").write_text(
        'run ->(env) { [200, {"content-type" => "text/plain"}, '
        '[env.values_at("SCRIPT_NAME", "PATH_INFO").inspect]] }\n')
    httpd.start()
    assert httpd.get(f"{location or ''}/a", "shop").text == \
        f'["{location or ""}", "/a"]'


@pytest.mark.mpms("event")
def test_procfile(httpd: Httpd) -> None:
    """Its web: line has precedence over the other files."""
    app = httpd.app("shop", command=None)
    (app.root / "Procfile").write_text(
        f"worker: /bin/false\nweb: {httpd.command}\n")
    (app.root / "wsgi.py").write_text("this is not Python")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200


@pytest.mark.mpms("event")
@pytest.mark.parametrize("name", ["app.js", "server.js"])
def test_node_entries(httpd: Httpd, name: str) -> None:
    app = httpd.app("shop", command=None)
    shutil.copy(TOP / "demo/node/app.js", app.root / name)
    httpd.start()
    assert "Node" in httpd.get("/", "shop").text


@pytest.mark.mpms("event")
def test_package_json(httpd: Httpd) -> None:
    """Its start script."""
    app = httpd.app("shop", command=None)
    shutil.copy(TOP / "demo/node/app.js", app.root / "main.js")
    (app.root / "package.json").write_text(
        '{"name": "shop", "scripts": {"start": "node main.js"}}')
    httpd.start()
    assert "Node" in httpd.get("/", "shop").text


@pytest.mark.mpms("event")
def test_detection_at_the_next_start(httpd: Httpd) -> None:
    """The files of an app appear while httpd runs."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop", command=None)
    (app.root / "Procfile").write_text("web: /bin/false\n")
    httpd.start()
    assert httpd.get("/", "shop").status in (502, 503)
    (app.root / "Procfile").write_text(f"web: {httpd.command}\n")
    httpd.graceful()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200,
               "the new command")


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_php_site(httpd: Httpd) -> None:
    """Detected by index.php. Scripts are run and never sent as files, other
    files are served, and index.php gets everything else."""
    httpd.directives.append("DirectoryIndex index.php")
    app = httpd.app("site", "AppProtocol fcgi", command=None)
    (app.public / "sub").mkdir()
    source = ("<?php foreach (['SCRIPT_NAME', 'PATH_INFO', 'REQUEST_URI', "
              "'SCRIPT_FILENAME'] as $name) "
              "echo $_SERVER[$name] ?? '-', ' ';")
    for script in ("index.php", "old.php", "loud.PHP", "sub/index.php"):
        (app.public / script).write_text(source)
    (app.public / "style.css").write_text("static")
    httpd.start()
    public = app.public
    for path, response in {
            "/": f"/index.php - / {public}/index.php",
            "/a/b?c": f"/index.php /a/b /a/b?c {public}/index.php",
            "/old.php": f"/old.php - /old.php {public}/old.php",
            "/old.php/x?y": f"/old.php /x /old.php/x?y {public}/old.php",
            "/sub/": f"/sub/index.php - /sub/ {public}/sub/index.php",
            "/sub/none": f"/index.php /sub/none /sub/none {public}/index.php",
            "/index.php": f"/index.php - /index.php {public}/index.php",
            "/loud.PHP": f"/loud.PHP - /loud.PHP {public}/loud.PHP",
            "/style.css/x": f"/index.php /style.css/x /style.css/x "
                            f"{public}/index.php",
            "/style.css": "static"}.items():
        assert httpd.get(path, "site").text.strip() == response
    assert httpd.get("/style.css/x.php", "site").status == 404
    (app.public / "proxy.php").write_text(
        "<?php echo $_SERVER['HTTP_PROXY'] ?? 'none';")
    assert httpd.get("/proxy.php", "site",
                     headers={"Proxy": "http://evil"}).text == "none"


@pytest.mark.mpms("event")
def test_php_source_is_not_included(httpd: Httpd) -> None:
    """mod_include makes subrequests by file name, which have no URL to run."""
    httpd.log.expect("AH01374|unable to include")
    httpd.modules += ["include"]
    app = httpd.app("site", "AppProtocol fcgi", command="php-cgi")
    app.directives += [f'<Directory "{app.public}">', "Options +Includes",
                       "</Directory>", '<Files "*.shtml">',
                       "SetOutputFilter INCLUDES", "</Files>"]
    (app.public / "sub").mkdir()
    for place in ("", "sub/"):
        (app.public / f"{place}secret.php").write_text(
            "<?php $password = 'secret'; echo 'it ran ';")
        (app.public / f"{place}note.txt").write_text("note ")
    (app.public / "page.shtml").write_text(
        "".join(f'<!--#include {how}="{place}{name}" -->'
                for how in ("file", "virtual") for place in ("", "sub/")
                for name in ("secret.php", "note.txt")))
    httpd.start()
    text = httpd.get("/page.shtml", "site").text
    assert "secret" not in text
    assert text.count("note") == 4
    assert text.count("it ran") == 3


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_php_below_a_path(httpd: Httpd) -> None:
    """Alias leads to its files."""
    httpd.modules += ["alias"]
    app = httpd.app("site", "AppProtocol fcgi", command=None,
                    location="/mnt/site")
    httpd.directives += [f'Alias "/mnt/site" "{app.public}"']
    (app.public / "index.php").write_text(
        "<?php echo $_SERVER['SCRIPT_NAME'], ' ', $_SERVER['PATH_INFO'];")
    (app.public / "style.css").write_text("static")
    httpd.start()
    assert httpd.get("/mnt/site/style.css").text == "static"
    assert httpd.get("/mnt/site/index.php/x").text == "/mnt/site/index.php /x"
    assert httpd.get("/mnt/site/a/b").text == "/mnt/site/index.php /a/b"


@pytest.mark.mpms("event")
def test_asgi_is_found(httpd: Httpd) -> None:
    app = httpd.app("shop", command=None)
    shutil.copy(httpd.program("web") / "asgi.py", app.root)
    httpd.start()
    assert httpd.get("/x", "shop").headers["X-Path"] == "/x"
    assert "uvicorn" in command(httpd.pids(app)[0])


@pytest.mark.mpms("event")
@pytest.mark.parametrize("listen", ["fd", "unix", "tcp"])
def test_psgi_is_found(httpd: Httpd, listen: str) -> None:
    """It knows its client and its path, where all requests are httpd's."""
    app = httpd.app("shop", f"AppListen {listen}", command=None,
                    location="/mnt")
    (app.root / "app.psgi").write_text(
        'sub { my $e = shift; [200, [], [join " ", map { $e->{$_} } '
        '"SCRIPT_NAME", "PATH_INFO", "REMOTE_ADDR", "psgi.url_scheme"]] };\n')
    httpd.start()
    for _ in range(2):
        said = httpd.get("/mnt/a%20b?c", "shop").text
        assert said == ("/mnt /a b 127.0.0.1 http" if listen != "tcp"
                        else " /a b 127.0.0.1 http")
    httpd.stop()
    assert not httpd.log.matching("SIGKILL")


@pytest.mark.mpms("event")
@pytest.mark.parametrize("listen", ["fd", "unix"])
def test_other_kind_is_told(httpd: Httpd, listen: str) -> None:
    """By the loader for WSGI, with what to write."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop", f"AppListen {listen}", command=None)
    (app.root / "wsgi.py").write_text(
        "def make():\n    async def run(scope, receive, send):\n        pass\n"
        "    return run\n\n\nglobals()['application'] = make()\n")
    httpd.start()
    assert httpd.get("/", "shop").status >= 500
    httpd.log.wait_for("wsgi:application is an ASGI application, and this is "
                       "the loader for WSGI. Set AppCommand \"uvicorn --fd 3 "
                       "wsgi:application\"")


@pytest.mark.mpms("event")
def test_fastcgi_program_is_found(httpd: Httpd) -> None:
    app = httpd.app("shop", "AppProtocol fcgi", "AppSetEnv GREETING hello",
                    command=None)
    subprocess.run(["cc", "-o", app.root / "shop.fcgi",
                    httpd.program("web") / "fcgi.c", "-lfcgi"], check=True)
    httpd.start()
    assert httpd.get("/x", "shop").headers["X-Path"] == "/x"


@pytest.mark.mpms("event")
def test_php_wants_fcgi(httpd: Httpd) -> None:
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop", "AppProtocol http", command=None)
    (app.root / "index.php").write_text("<?php echo 1;")
    httpd.start()
    assert httpd.get("/", "shop").status == 503
    httpd.log.wait_for("index.php is for another AppProtocol")


# Debian's name with the version, such as php-cgi8.2.
PHP_VERSION = next((path.name for path in Path("/usr/bin").glob("php-cgi?.?")),
                   "php-cgi8.2")


@pytest.mark.mpms("event")
@pytest.mark.parametrize("command, directives", [
    (None, ["AppProtocol fcgi", "AppConcurrency 3"]),
    (PHP_VERSION, []), (PHP_VERSION, ["AppConcurrency 3"]),
    ("php-cgi", ["AppSetEnv PHP_FCGI_CHILDREN 3"])])
def test_php_children(httpd: Httpd, command: Optional[str],
                      directives: list[str]) -> None:
    """One process, and three requests that wait for each other. Also with an
    AppCommand, which needs no AppProtocol."""
    app = httpd.app("site", *directives, "MaxInstances 1",
                    f"AppSetEnv HERE {httpd.dir}/hold", command=command)
    (app.public / "index.php").write_text(
        "<?php touch(getenv('HERE') . '/' . getmypid());"
        "for ($i = 0; $i < 2000; $i++, usleep(5000))"
        "    if (count(glob(getenv('HERE') . '/*')) == 3) break;"
        "echo $i < 2000 ? 'met' : 'alone';")
    httpd.start()
    pending = [httpd.get_async("/", "site") for _ in range(3)]
    assert [one.result().text for one in pending] == ["met"] * 3
    assert len(httpd.pids(app)) == 1


@pytest.mark.mpms("event")
@pytest.mark.parametrize("text, reason", [
    ("import nothing_like_this", "ModuleNotFoundError: No module named"),
    ("app = 5", "wsgi has no application that can be called")])
def test_wsgi_does_not_load(httpd: Httpd, text: str, reason: str) -> None:
    """The error page has the traceback"""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop", "AppFriendlyErrors On", command=None)
    (app.root / "wsgi.py").write_text(text)
    httpd.start()
    failed = httpd.get("/", "shop")
    assert failed.status >= 500 and reason in failed.text
    assert "exit code 1" in failed.text


@pytest.mark.mpms("event")
def test_wsgi_in_a_virtual_environment(httpd: Httpd) -> None:
    """Its python, and what is installed there"""
    app = httpd.app("shop", command=None)
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip",
                    app.root / ".venv"], check=True)
    site = next((app.root / ".venv").glob("lib/python3*/site-packages"))
    (site / "only_here.py").write_text("TEXT = b'from .venv'")
    (app.root / "wsgi.py").write_text(
        "from only_here import TEXT\n"
        "def application(environ, start):\n"
        "    start('200 OK', [])\n    return [TEXT]\n")
    httpd.start()
    assert httpd.get("/", "shop").text == "from .venv"
    assert command(httpd.pids(app)[0]).startswith(".venv/bin/python")
