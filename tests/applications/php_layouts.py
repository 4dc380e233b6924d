# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Layouts of applications in PHP, and of any other program."""
from commands import PHP
from layout import add
from node_layouts import BIN, package

PAGE = "<?php echo 'NAME';\n"
UNPACKED = ('DocumentRoot "ROOT"',)


def php(of: str, name: str, files: dict[str, str], **more: object) -> None:
    add("PHP", of, name, files, PHP, **more)


php("PHP", "php", {"index.php": PAGE})
php("PHP", "php-public", {"public/index.php": PAGE, "src/a.php": ""})
php("PHP", "php-htdocs", {"htdocs/index.php": PAGE})
php("PHP", "php-pages", {"contact.php": PAGE}, path="/contact.php",
    directives=UNPACKED)
php("PHP", "php-and-browser",
    {"index.php": PAGE, "app.js": "$(document).ready(() => {});\n"})
php("PHP", "php-and-webpack",
    {"index.php": PAGE, "package.json": package("webpack --watch"),
     "node_modules/.bin/webpack": BIN})
php("PHP", "php-and-vite",
    {"index.php": PAGE, "package.json": package("vite")})
php("PHP", "php-heroku",
    {"public/index.php": PAGE, "composer.json": "{}",
     "Procfile": "web: vendor/bin/heroku-php-apache2 public/\n"})
php("PHP", "php-heroku-nginx",
    {"web/index.php": PAGE, "composer.json": "{}",
     "Procfile": "web: heroku-php-nginx -C nginx.conf web/\n"})
php("Laravel", "laravel",
    {"artisan": "#!/usr/bin/env php\n", "composer.json": "{}", ".env": "",
     "bootstrap/app.php": "<?php return 'NAME';\n", "public/index.php":
     "<?php echo require __DIR__.'/../bootstrap/app.php';\n",
     "package.json": '{"private": true, "scripts": {"dev": "vite"}}',
     "vite.config.js": "", "resources/js/app.js": ""}, path="/users/7")
php("Symfony", "symfony",
    {"bin/console": "#!/usr/bin/env php\n", "composer.json": "{}",
     "config/bundles.php": "<?php\n", "src/Kernel.php": "<?php\n",
     "public/index.php": PAGE, "package.json":
     '{"scripts": {"dev-server": "encore dev-server"}}'}, path="/blog")
php("Drupal", "drupal",
    {"index.php": PAGE, "core/core.api.php": "", "update.php": "",
     "autoload.php": "", "sites/default/default.settings.php": ""},
    path="/node/1", directives=UNPACKED)
php("Drupal", "drupal-composer",
    {"web/index.php": PAGE, "web/core/core.api.php": "",
     "composer.json": "{}", "vendor/autoload.php": ""}, path="/node/1")
php("Drupal", "drupal-acquia", {"docroot/index.php": PAGE, "blt/blt.yml": ""})
php("WordPress", "wordpress",
    {"index.php": "<?php require __DIR__ . '/wp-blog-header.php';\n",
     "wp-blog-header.php": PAGE, "wp-load.php": "<?php\n",
     "wp-config-sample.php": "<?php\n", "wp-admin/index.php": "<?php\n",
     "wp-content/index.php": "<?php\n", "wp-includes/version.php": "<?php\n"},
    path="/2024/01/hello-world/", directives=UNPACKED)
php("WordPress", "bedrock",
    {"web/index.php": PAGE, "web/wp/wp-load.php": "", "web/wp-config.php": "",
     "config/application.php": "<?php\n", "composer.json": "{}"})
php("MediaWiki", "mediawiki",
    {"index.php": PAGE, "api.php": "<?php\n", "load.php": "<?php\n",
     "includes/WebStart.php": "<?php\n", "composer.json": "{}",
     "package.json": '{"scripts": {"test": "grunt lint", "doc": "jsdoc"}}',
     "Gruntfile.js": ""}, path="/index.php/Main_Page", directives=UNPACKED)
php("Nextcloud", "nextcloud",
    {"index.php": PAGE, "remote.php": "<?php\n", "console.php": "<?php\n",
     "occ": "#!/usr/bin/env php\n", "core/js/main.js": "",
     "config/CAN_INSTALL": "", "status.php": "<?php\n"}, directives=UNPACKED)
php("phpMyAdmin", "phpmyadmin",
    {"index.php": PAGE, "config.sample.inc.php": "<?php\n",
     "composer.json": "{}",
     "package.json": '{"scripts": {"build": "webpack"}}'}, directives=UNPACKED)
php("Joomla", "joomla",
    {"index.php": PAGE, "administrator/index.php": "<?php\n",
     "configuration.php-dist": "", "cli/joomla.php": "<?php\n"},
    directives=UNPACKED)
php("CakePHP", "cakephp",
    {"webroot/index.php": PAGE, "index.php":
     "<?php require 'webroot/index.php';\n", "bin/cake.php": "<?php\n",
     "config/app.php": "<?php\n"})
php("CakePHP", "cakephp-webroot",
    {"webroot/index.php": PAGE, "bin/cake.php": "<?php\n"})
php("Yii", "yii",
    {"web/index.php": PAGE, "yii": "#!/usr/bin/env php\n",
     "config/web.php": "<?php\n"})
php("Magento", "magento",
    {"pub/index.php": PAGE, "bin/magento": "#!/usr/bin/env php\n",
     "package.json.sample": "{}", "Gruntfile.js.sample": ""})
php("CodeIgniter", "codeigniter",
    {"public/index.php": PAGE, "spark": "#!/usr/bin/env php\n",
     "app/Config/App.php": "<?php\n"})
php("Slim", "slim", {"public/index.php": PAGE, "composer.json": "{}"},
    path="/hello/you")
php("DokuWiki", "dokuwiki",
    {"index.php": PAGE, "doku.php": "<?php\n", "bin/page.php": "<?php\n"},
    directives=UNPACKED)
php("Roundcube", "roundcube",
    {"index.php": PAGE, "program/include/iniset.php": "<?php\n",
     "public_html/index.php": "<?php\n"})

php("TYPO3", "typo3",
    {"public/index.php": PAGE, "public/typo3/index.php": "<?php\n",
     "config/system/settings.php": "<?php\n", "composer.json": "{}"},
    path="/about")
php("Neos", "neos",
    {"Web/index.php": PAGE, "flow": "#!/usr/bin/env php\n",
     "Configuration/Settings.yaml": "", "composer.json": "{}"}, path="/about")
php("Nette", "nette",
    {"www/index.php": PAGE, "app/Bootstrap.php": "<?php\n",
     "composer.json": "{}"}, path="/homepage")
php("Lumen", "lumen",
    {"public/index.php": PAGE, "artisan": "#!/usr/bin/env php\n",
     "bootstrap/app.php": "<?php\n", "routes/web.php": "<?php\n"},
    path="/users/7")
php("Kirby", "kirby",
    {"index.php": PAGE, "kirby/bootstrap.php": "<?php\n",
     "content/home/home.txt": "", "site/templates/home.php": "<?php\n"},
    path="/notes", directives=UNPACKED)
php("Grav", "grav",
    {"index.php": PAGE, "bin/grav": "#!/usr/bin/env php\n",
     "system/defines.php": "<?php\n", "user/pages/01.home/default.md": ""},
    path="/blog", directives=UNPACKED)
php("PHP", "php-hosting",
    {"public_html/index.php": PAGE, "logs/error_log": "", "mail/x": ""})
php("PHP", "php-plesk", {"httpdocs/index.php": PAGE, "error_docs/x": ""})

# ---- any other program

add("FastCGI", "FastCGI", "fcgi",
    {"shop.fcgi": "#!/bin/sh\nexec php-cgi\n", "public/index.php": PAGE},
    "./shop.fcgi")
add("Procfile", "any program", "procfile",
    {"Procfile": "worker: ./work\nweb: python3 serve.py\n",
     "serve.py": "import http.server\nimport os\nimport socket\n\n\n"
     "class Handler(http.server.BaseHTTPRequestHandler):\n"
     "    def do_GET(self):\n        self.send_response(200)\n"
     "        self.end_headers()\n        self.wfile.write(b'NAME')\n\n"
     "    def address_string(self):\n        return ''\n\n\n"
     "gets = 'LISTEN_FDS' in os.environ\n"
     "server = http.server.HTTPServer(('127.0.0.1', int(os.environ.get("
     "'PORT', 0))), Handler, not gets)\nif gets:\n"
     "    server.socket = socket.socket(fileno=3)\nserver.serve_forever()\n"},
    "python3 serve.py")
