# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Django's own admin and auth, in a project made by django-admin. An
administrator logs in, uploads a file and downloads it, and a new version is
deployed under load."""
import os
import secrets
import subprocess
from pathlib import Path
from typing import Callable

import pytest

from harness import packaged
from harness.config import App, SLOW_START
from harness.deploy import restart_under_load
from harness.httpd import Httpd, USER
from harness.tls import TlsHost
from harness.visitor import Visitor

# What an author adds to the project.
SETTINGS = """
import os
DEBUG = False
ALLOWED_HOSTS = ["shop"]
INSTALLED_APPS.append("papers")
FORCE_SCRIPT_NAME = os.environ.get("APP_BASE_URI") or None
STATIC_ROOT = BASE_DIR / "public/static"
STATIC_URL = "static/"
MEDIA_ROOT = BASE_DIR / "media"
MEDIA_URL = "media/"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
"""
MODELS = """
from django.contrib import admin
from django.db import models


class Paper(models.Model):
    id = models.AutoField(primary_key=True)
    file = models.FileField()


admin.site.register(Paper)
"""
URLS = """
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.urls import re_path
from django.views.static import serve

urlpatterns.append(re_path(
    "^media/(?P<path>.*)$", login_required(serve, login_url="admin:login"),
    {"document_root": settings.MEDIA_ROOT}))
"""


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def make_project(root: Path) -> None:
    """A project with an administrator called ada. It is made once, and then
    copied."""
    packaged.kept("django", make_shop, root)
    subprocess.run(["chown", "-R", USER, root], check=True)


def make_shop(root: Path) -> None:
    def manage(*words: str) -> None:
        subprocess.run(["/usr/bin/python3", root / "manage.py", *words],
                       env={**os.environ,
                            "DJANGO_SUPERUSER_PASSWORD": "a secret"},
                       check=True, capture_output=True)

    root.mkdir(parents=True)
    subprocess.run(["django-admin", "startproject", "shop", root], check=True)
    (root / "papers").mkdir()
    (root / "papers/models.py").write_text(MODELS)
    append(root / "shop/settings.py", SETTINGS)
    append(root / "shop/urls.py", URLS)
    manage("makemigrations", "papers")
    manage("migrate")
    manage("createsuperuser", "--noinput", "--username=ada",
           "--email=ada@shop.example")
    manage("collectstatic", "--noinput")


def a_day_in_the_office(httpd: Httpd, app: App, enter: Callable[[], Visitor]
                        ) -> None:
    ada = enter()
    login = ada.get("/admin/")
    assert login.url.endswith(f"/admin/login/?next={ada.mount}/admin/")
    assert ada.get("/static/admin/css/base.css").headers["ETag"]
    wrong = ada.submit(login, username="ada", password="a guess")
    assert "correct username and password" in wrong.text
    home = ada.submit(wrong, username="ada", password="a secret")
    assert "Log out" in home.text

    data = secrets.token_bytes(3 << 20)
    papers = ada.submit(ada.get("/admin/papers/paper/add/"),
                        file=("paper.bin", data), _save="Save")
    assert "was added successfully" in papers.text
    assert ada.get("/media/paper.bin").body == data
    assert "/admin/login/" in enter().get("/media/paper.bin").url

    def work() -> None:
        assert "paper.bin" in ada.get("/admin/papers/paper/1/change/").text
        assert ada.get("/media/paper.bin").body == data

    restart_under_load(httpd, app, work)


@pytest.mark.one_mpm("it is about the application")
def test_site(httpd: Httpd) -> None:
    """Over TLS"""
    app = httpd.app("shop", *SLOW_START, command=None)
    make_project(app.root)
    host = TlsHost(httpd, app, f'DocumentRoot "{app.public}"')
    httpd.start()
    a_day_in_the_office(httpd, app, lambda: Visitor(host.port, "shop",
                                                    scheme="https"))
    host.close()


@pytest.mark.in_long("other applications are below a path, too")
@pytest.mark.mpms("event")
def test_below_a_path(httpd: Httpd) -> None:
    httpd.modules.append("alias")
    app = httpd.app("shop", *SLOW_START, command=None, location="/office")
    httpd.directives += [f'Alias "/office" "{app.public}"']
    make_project(app.root)
    httpd.start()
    a_day_in_the_office(httpd, app,
                        lambda: Visitor(httpd.port, "shop", "/office"))
