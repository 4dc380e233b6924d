# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Many hosts that are not configured one by one."""
import shutil

import pytest

from harness.httpd import USER, Httpd
from harness.places import apxs

pytestmark = pytest.mark.mpms("event")


def load(httpd: Httpd, *names: str) -> None:
    """Load it after mod_apppool, as Debian does by the alphabet."""
    httpd.directives += [f"LoadModule {name}_module "
                         f"{apxs('LIBEXECDIR')}/mod_{name}.so"
                         for name in names]


def site(httpd: Httpd, name: str) -> None:
    """The files of a site, and their owner."""
    public = httpd.dir / "sites" / name / "public"
    public.mkdir(parents=True)
    (public / "style.css").write_text(f"style of {name}")
    shutil.chown(public.parent, USER)


def test_document_root_by_name(httpd: Httpd) -> None:
    """VirtualDocumentRoot as DocumentRoot, for one app that distinguishes
    hosts."""
    load(httpd, "vhost_alias")
    app = httpd.app("shop")
    httpd.apps.clear()
    for name in ("one.example", "two.example"):
        site(httpd, name)
    httpd.directives += [
        f"<VirtualHost *:{httpd.port}>", "ServerName shop",
        "ServerAlias *.example",
        f'VirtualDocumentRoot "{httpd.dir}/sites/%0/public"', *app.lines(),
        "</VirtualHost>"]
    httpd.start()
    for name in ("one.example", "two.example"):
        assert httpd.get("/style.css", name).text == f"style of {name}"
        assert httpd.get("/other.css", name).text.startswith("shop ")
        response = httpd.get("/x/echo", name).json()
        assert ["X-Forwarded-Host", name] in response["headers"]


def test_users(httpd: Httpd) -> None:
    """A user's host has files where the app's host has none."""
    load(httpd, "userdir")
    app = httpd.app("shop", f'UserDir "{httpd.dir}/home"')
    httpd.apps.clear()
    (httpd.dir / "home/eve").mkdir(parents=True)
    (httpd.dir / "home/eve/page.html").write_text("a page of hers")
    httpd.directives += [f"<VirtualHost *:{httpd.port}>", "ServerName shop",
                         *app.lines(), "</VirtualHost>"]
    httpd.start()
    assert httpd.get("/~eve/page.html", "shop").text == "a page of hers"
    assert httpd.get("/eve/page.html", "shop").text.startswith("shop ")


MACRO = """
<Macro Site $name>
    <VirtualHost *:{port}>
        ServerName   $name
        DocumentRoot "{dir}/sites/$name/public"
        AppRoot      "{dir}/sites/$name"
        AppCommand   "{command}"
        AppSetEnv    APP_NAME $name
        AppSetEnv    LEDGER_DIR "{ledgers}"
        AppSetEnv    APP_TRACE "{trace}"
    </VirtualHost>
</Macro>
Use Site one.example
Use Site two.example
"""

BY_NAME = """
<Macro Site $name>
    <Directory "{dir}/sites/$name/public">
        AppRoot    "{dir}/sites/$name"
        AppCommand "{command}"
        AppSetEnv  APP_NAME $name
        AppSetEnv  LEDGER_DIR "{ledgers}"
        AppSetEnv  APP_TRACE "{trace}"
    </Directory>
</Macro>
Use Site one.example
Use Site two.example
<VirtualHost *:{port}>
    ServerName  shop
    ServerAlias *.example
    VirtualDocumentRoot "{dir}/sites/%0/public"
</VirtualHost>
"""


@pytest.mark.parametrize("text", [MACRO, BY_NAME],
                         ids=["macro", "macro and vhost_alias"])
def test_many_sites(httpd: Httpd, text: str) -> None:
    """As in doc/tenants.md: one line for each site, and each site has its own
    app."""
    load(httpd, "vhost_alias", "macro")
    for name in ("one.example", "two.example", "three.example"):
        site(httpd, name)
    httpd.directives += text.format(
        port=httpd.port, dir=httpd.dir, command=httpd.command,
        trace=httpd.trace, ledgers=httpd.ledgers).splitlines()
    httpd.start()
    pids = set()
    for name in ("one.example", "two.example"):
        assert httpd.get("/style.css", name).text == f"style of {name}"
        app, pid = httpd.get("/who", name).text.split()
        assert app == name
        pids.add(pid)
    assert len(pids) == 2
    httpd.directives.append("Use Site three.example")
    httpd.graceful()
    assert httpd.get("/who", "three.example").text.split()[0] == \
        "three.example"
    assert httpd.get("/who", "one.example").text.split()[1] in pids
