# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A virtual host that gives one path to an application, and the ways of a
request there: by each module of httpd that gives a request to another URL or to
another handler."""
import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from harness.client import Raw, Response
from harness.forged import LIES, PROTOCOLS
from harness.httpd import USER, Httpd

MODULES = ("actions", "alias", "asis", "cgid", "headers", "imagemap",
           "include", "lua", "mime", "negotiation", "proxy_balancer",
           "proxy_fcgi", "lbmethod_byrequests", "slotmem_shm", "rewrite",
           "speling", "userdir", "vhost_alias")

# The client sends the value that the configuration sets, or a module.
SET, BY_MODULE = "203.0.113.9", "198.51.100.7"
SENT = {**LIES, "X-Url-Scheme": "evil.example", "Proxy": "evil.example",
        "X-Cluster-Client-IP": SET, "X-Real-IP": BY_MODULE}

# @D@ is the DocumentRoot, @P@ the port. Modules that authenticate set headers
# as the script does.
HOST = """
TypesConfig /dev/null
ScriptSock cgisock
<VirtualHost *:@P@>
ServerName shop
ServerAlias localhost 127.0.0.1
DocumentRoot "@D@"
ProxyPreserveHost On
AddDefaultCharset Off
RewriteEngine On
UserDir "@D@/home"
RequestHeader set X-Cluster-Client-IP {set}
RequestHeader append X-Url-Scheme mine
LuaHookAccessChecker @D@/hooks.lua set_header
<Directory "@D@">
    AllowOverride All
    Options FollowSymLinks
    DirectoryIndex index.html
</Directory>
{app}
{rows}
</VirtualHost>
<VirtualHost *:@P@>
ServerName one.example
VirtualDocumentRoot "@D@/hosts/%0"
RequestHeader set X-Cluster-Client-IP {set}
RequestHeader append X-Url-Scheme mine
LuaHookAccessChecker @D@/hooks.lua set_header
<Directory "@D@/hosts">
    DirectoryIndex /app/index.php
</Directory>
{app}
</VirtualHost>
"""

LUA = f"""
function set_header(r)
    r.headers_in["X-Real-IP"] = "{BY_MODULE}"
    return apache2.DECLINED
end
function set_handler(r)
    r.handler = "apppool-app"
    return apache2.OK
end
function read_body(r)
    r:parsebody()
    return apache2.OK
end
"""


class Way(NamedTuple):
    """How a request gets to the app, although it does not ask for it."""
    path: str
    lines: str = ""  # of the virtual host
    files: dict[str, str] = {}  # of DocumentRoot
    host: str = "shop"


DIRECTORY = '<Directory "@D@{}">\n{}\n</Directory>'


def in_directory(name: str, *lines: str) -> str:
    return DIRECTORY.format(name, "\n".join(lines))


def in_location(name: str, *lines: str) -> str:
    return f'<Location "{name}">\n' + "\n".join(lines) + "\n</Location>"


SSI = in_directory("/ssi", "Options +Includes",
                   "AddOutputFilter INCLUDES .shtml")
IMAP = in_directory("/imap", "AddHandler imap-file .map")
CGI = in_directory("/cgi", "Options +ExecCGI", "AddHandler cgi-script .sh")
NEGOTIATED = in_directory("/neg", "Options +MultiViews",
                          "AddType application/x-demo .php",
                          "AddHandler type-map .var")
REDIRECT = "#!/bin/sh\nprintf 'Location: /app/cgi\\n\\n'\n"

# httpd sees only in the last place that this request is the app's.
LATE = "AddType, with a parameter"

WAYS = {
    "directly": Way("/app/x"),
    "a script": Way("/app/index.php"),
    "DirectoryIndex": Way("/d/", in_directory(
        "/d", "DirectoryIndex /app/index.php"), {"d/x": ""}),
    "DirectoryIndex in .htaccess": Way("/dh/", "", {
        "dh/.htaccess": "DirectoryIndex /app/index.php"}),
    "DirectoryIndex of a mount by suffix": Way("/only/", in_directory(
        "/only", "DirectoryIndex index.php"), {"only/index.php": ""}),
    "FallbackResource": Way("/fall/x", in_directory(
        "/fall", "FallbackResource /app/index.php"), {"fall/y": ""}),
    "FallbackResource of a directory": Way("/fall/", "", {}),
    "MultiViews": Way("/neg/page", NEGOTIATED, {"neg/page.php": ""}),
    "MultiViews of an index": Way("/negd/", in_directory(
        "/negd", "Options +MultiViews", "DirectoryIndex page",
        "AddType application/x-demo .php"), {"negd/page.php": ""}),
    "type map": Way("/neg/map.var", "", {
        "neg/map.var": "URI: page.php\nContent-Type: application/x-demo\n"}),
    "rewrite rule of the host": Way(
        "/rw", 'RewriteRule "^/rw$" "/app/index.php" [PT]'),
    "rewrite rule of a directory": Way("/rwd/x", in_directory(
        "/rwd", "RewriteEngine On",
        'RewriteRule "^x$" "/app/rewritten"'), {"rwd/y": ""}),
    "rewrite rule of a location": Way("/rwl", in_location(
        "/rwl", "RewriteEngine On", 'RewriteRule ".*" "/app/rewritten"')),
    "rewrite rule of .htaccess": Way("/rwh/x", "", {
        "rwh/.htaccess": "RewriteEngine On\n"
        'RewriteRule "^x$" "/app/rewritten"'}),
    "rewrite rule of .htaccess, to a script": Way("/rws/x", "", {
        "rws/.htaccess": "RewriteEngine On\n"
        'RewriteRule "^x$" "/app/index.php/info"'}),
    "rewrite rule, proxied": Way(
        "/rwp", 'RewriteRule "^/rwp$" "http://127.0.0.1:@P@/app/x" [P]'),
    "rewrite rule of .htaccess, proxied": Way("/rwhp/x", "", {
        "rwhp/.htaccess": "RewriteEngine On\n"
        'RewriteRule "^x$" "http://127.0.0.1:@P@/app/x" [P]'}),
    "rewrite rule, handler": Way(
        "/app/rw.file", 'RewriteRule "^/app/rw.file$" - [H=apppool-app]',
        {"app/rw.file": ""}),
    "rewrite rule of .htaccess, handler": Way("/app/rwh/x", "", {
        "app/rwh/.htaccess": "RewriteEngine On\n"
        'RewriteRule "^x$" - [H=apppool-app]', "app/rwh/x": ""}),
    "rewrite rule of .htaccess, type": Way("/app/rwt/x", "", {
        "app/rwt/.htaccess": "RewriteEngine On\n"
        'RewriteRule "^x$" - [T=apppool-app]', "app/rwt/x": ""}),
    "RewriteMap": Way(
        "/rwm/app", 'RewriteMap to "txt:@D@/map.txt"\n'
        'RewriteRule "^/rwm/(.*)$" "${to:$1}" [PT]',
        {"map.txt": "app /app/index.php\n"}),
    "Action": Way("/act/x.demo", in_directory(
        "/act", "AddHandler x-demo .demo", "Action x-demo /app/act"),
        {"act/x.demo": ""}),
    "Action in .htaccess": Way("/acth/x.demo", "", {
        "acth/.htaccess": "AddHandler x-demo .demo\n"
        "Action x-demo /app/act", "acth/x.demo": ""}),
    "Script": Way("/scr/x?y", in_directory("/scr", "Script GET /app/scr"),
                  {"scr/x": ""}),
    "SetHandler": Way("/app/set.file", "", {
        "app/set.file": "", "app/.htaccess": '<Files "set.file">\n'
        "SetHandler apppool-app\n</Files>"}),
    "SetHandler of a location": Way("/app/loc.file", in_location(
        "/app/loc.file", "SetHandler apppool-app"), {"app/loc.file": ""}),
    "AddHandler": Way("/app/x.added", in_location(
        "/app", "AddHandler apppool-app .added"), {"app/x.added": ""}),
    "ForceType": Way("/app/force/x", "", {
        "app/force/.htaccess": "ForceType apppool-app", "app/force/x": ""}),
    "AddType": Way("/app/type/x.typed", "", {
        "app/type/.htaccess": "AddType apppool-app .typed",
        "app/type/x.typed": ""}),
    LATE: Way("/app/late/x.typed", "", {
        "app/late/.htaccess": 'AddType "apppool-app; a=b" .typed',
        "app/late/x.typed": ""}),
    "handler of a hook in Lua": Way("/app/lua.file", in_location(
        "/app/lua.file", "LuaHookFixups @D@/hooks.lua set_handler"),
        {"app/lua.file": ""}),
    "a hook that reads the body": Way("/app/trailers", in_location(
        "/app/trailers", "LuaHookFixups @D@/hooks.lua read_body")),
    "Alias": Way("/app/al/index.php", 'Alias "/app/al" "@D@/aliased"',
                 {"aliased/index.php": ""}),
    "AliasMatch": Way("/alm/x.php", 'AliasMatch "^/alm/(.*)$" "@D@/only/$1"',
                      {"only/x.php": ""}),
    "Redirect": Way("/red", "Redirect /red /app/x"),
    "speling": Way("/sp/index.phq", in_directory("/sp", "CheckSpelling On"),
                   {"sp/index.php": ""}),
    "UserDir": Way("/~eve/", in_directory(
        "/home/eve", "DirectoryIndex /app/index.php"), {"home/eve/x": ""}),
    "vhost_alias": Way("/", "", {
        "hosts/one.example/app/index.php": ""}, "one.example"),
    "SSI, virtual": Way("/ssi/page.shtml", SSI, {
        "ssi/page.shtml": '<!--#include virtual="/app/x" -->'}),
    "SSI, virtual, a script": Way("/ssi/script.shtml", "", {
        "ssi/script.shtml": '<!--#include virtual="/app/index.php" -->'}),
    "SSI, with an index": Way("/ssi/index.shtml", "", {
        "ssi/index.shtml": '<!--#include virtual="/d/" -->'}),
    "imagemap": Way("/imap/x.map?1,1", IMAP, {
        "imap/x.map": "default /app/imap"}),
    "asis": Way("/asis/x.asis", in_directory(
        "/asis", "AddHandler send-as-is .asis"), {
        "asis/x.asis": "Location: /app/asis\n\n"}),
    "CGI": Way("/cgi/to.sh", CGI, {"cgi/to.sh": REDIRECT}),
    "ErrorDocument": Way("/err/none", in_location(
        "/err", "ErrorDocument 404 /app/err")),
    "ErrorDocument, a script": Way("/errs/none", in_location(
        "/errs", "ErrorDocument 404 /app/index.php")),
    "ErrorDocument in .htaccess": Way("/errh/none", "", {
        "errh/.htaccess": "ErrorDocument 404 /app/err"}),
    "ErrorDocument of a denied path": Way("/denied", in_location(
        "/denied", "Require all denied", "ErrorDocument 403 /app/err")),
    "ProxyPass": Way("/pp", 'ProxyPass "/pp" "http://127.0.0.1:@P@/app"'),
    "balancer": Way(
        "/bal", '<Proxy "balancer://b">\n'
        'BalancerMember "http://127.0.0.1:@P@"\n</Proxy>\n'
        'ProxyPass "/bal" "balancer://b/app"'),
    "handler of a proxy": Way("/ph", in_location(
        "/ph", 'SetHandler "proxy:http://127.0.0.1:@P@/app/x"')),
}


def start(httpd: Httpd, *more: str) -> Path:
    """@param more lines of the virtual host
    @return DocumentRoot"""
    httpd.modules += MODULES
    server = PROTOCOLS["fcgi"]
    root = httpd.dir / "root"
    app = httpd.app("shop", "AppProtocol fcgi", "MaxInstances 1", root=root,
                    command=server.command)
    httpd.apps.clear()
    (root / server.file).write_bytes(
        (httpd.program("web") / server.file).read_bytes())
    public = app.public
    files = {"app/index.php": "", "hooks.lua": LUA}
    for way in WAYS.values():
        files.update(way.files)
    section = "\n".join(app.lines())
    mounts = "".join(f"{begin}\n{section}\n{end}\n" for begin, end in (
        ('<Location "/app">', "</Location>"),
        (r'<LocationMatch "^/(only|neg|negd|sp|alm)/.*\.php$">',
         "</LocationMatch>")))
    text = HOST.format(app=mounts, set=SET, rows="\n".join(
        [*(way.lines for way in WAYS.values()), *more]))

    def filled(template: str) -> str:
        return template.replace("@D@", str(public)).replace(
            "@P@", str(httpd.port))

    for name, content in files.items():
        file = public / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(filled(content))
    (public / "cgi/to.sh").chmod(0o755)
    subprocess.run(["chown", "-R", f"{USER}:", str(root)], check=True)
    httpd.directives += filled(text).splitlines()
    httpd.start()
    return public


def variables(response: Response) -> dict[str, Any]:
    """What the app has responded, maybe within a page."""
    return json.loads(response.text)


def check(seen: dict[str, Any], appended: str = "mine") -> None:
    assert "evil" not in str(seen) and "192.0.2.66" not in str(seen), seen
    assert seen["REMOTE_ADDR"] == "127.0.0.1"
    assert seen.get("HTTPS", "off") == "off"
    assert seen["HTTP_X_CLUSTER_CLIENT_IP"] == SET
    assert seen.get("HTTP_X_URL_SCHEME", "") == appended
    assert seen["HTTP_X_REAL_IP"] == BY_MODULE


def follow(httpd: Httpd, way: Way, **sent: str) -> Response:
    response = httpd.get(way.path, way.host, headers={**SENT, **sent})
    if response.status in (301, 302):
        path = re.sub("^http://[^/]*", "", response.headers["Location"])
        response = httpd.get(path, way.host, headers={**SENT, **sent})
    return response


def raw(httpd: Httpd, data: bytes) -> Response:
    with Raw(httpd.port, data) as client:
        return client.response()


def lines(headers: dict[str, str]) -> bytes:
    return b"".join(f"{name}: {value}\r\n".encode()
                    for name, value in headers.items()) + b"\r\n"
