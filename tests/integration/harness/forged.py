# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Headers in which a client lies, or a proxy tells the truth, and an application
that shows what it gets."""
from harness.web import Server

PROTOCOLS = {
    "http": Server("environ.py", "gunicorn --threads 1 environ"),
    **{name: Server("environ.py", "uwsgi --plugin python3 --need-app "
                    "--wsgi-file environ.py --die-on-term --disable-logging "
                    f"--protocol {spoken}", name)
       for name, spoken in (("fcgi", "fastcgi"), ("scgi", "scgi"),
                            ("uwsgi", "uwsgi"))},
}

# Whatever a client may make up.
LIES = {name: "evil.example" for name in (
    "X-Forwarded-Host", "X-Forwarded-Server", "X-Forwarded-Port",
    "X-Forwarded-Proto", "X-Forwarded-Protocol", "X-Forwarded-Scheme",
    "X-Forwarded-Ssl", "X-Forwarded-By", "X-Forwarded-Prefix", "Forwarded",
    "X-Real-IP", "Client-IP", "X-Client-IP", "X-Scheme", "Front-End-Https",
    "X-Request-Start", "X-Original-URL", "X-Rewrite-URL",
    "x-forwarded-anything", "X_Forwarded_Proto")}
LIES["X-Forwarded-For"] = "192.0.2.66"

# What a load balancer says about a client that uses TLS.
CLAIMS = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https",
          "X-Forwarded-Host": "shop.example", "X-Forwarded-Port": "443",
          "Forwarded": "for=192.0.2.7;proto=https"}

TRUST = ("RemoteIPHeader X-Forwarded-For", "RemoteIPInternalProxy 127.0.0.1")
