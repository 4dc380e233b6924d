# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The commands that are found, as `apppoolctl detect` prints them."""

PHP = "env PHP_FCGI_MAX_REQUESTS=0 PHP_FCGI_CHILDREN=5 php-cgi "


def WSGI(word: str) -> str:
    return f'python3 "$APPPOOL_HELPERS/python/wsgi.py" {word}'


def ASGI(word: str) -> str:
    return f'uvicorn --root-path "$APP_BASE_URI" --no-access-log --fd 3 {word}'


def LISTEN(word: str) -> str:
    return f'python3 "$APPPOOL_HELPERS/python/listen.py" {word}'


def NODE(words: str) -> str:
    return f"node {words}"


def NPM(script: str) -> str:
    return f'env PATH="$PWD/node_modules/.bin:$PATH" {script}'


def PUMA(program: str = "puma", before: str = "", after: str = "") -> str:
    return ('env -u NOTIFY_SOCKET SCRIPT_NAME="$APPPOOL_BASE_URL" '
            f"{before}{program} -t 1:1 --bind-to-activated-sockets only{after}")


def SINATRA(word: str) -> str:
    return PUMA(before=f"APPPOOL_APP={word} ",
                after=' "$APPPOOL_HELPERS/ruby/app.ru"')


def PSGI(file: str) -> str:
    return f'perl "$APPPOOL_HELPERS/perl/psgi.pl" {file}'


def MOJO(file: str) -> str:
    return ("MOJO_LISTEN='http://127.0.0.1?fd=3' MOJO_REVERSE_PROXY=1 perl "
            f"{file} daemon")
