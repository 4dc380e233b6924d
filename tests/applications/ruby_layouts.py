# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Layouts of applications in Ruby and Perl."""
from pathlib import Path

from commands import MOJO, PSGI, PUMA, SINATRA
from layout import add

RACK = ('run ->(env) { [200, { "content-type" => "text/plain" }, ["NAME"]] }\n')
CLASSIC = 'require "sinatra"\n\nget "/" do\n  "NAME"\nend\n'
MODULAR = ('require "sinatra/base"\n\nclass Shop < Sinatra::Base\n'
           '  get("/") { "NAME" }\nend\n')
RODA = {"roda.rb": 'class Roda\n  def self.app = ->(env) { '
        '[200, { "content-type" => "text/plain" }, ["NAME"]] }\nend\n'}
ROUTES = 'require_relative "roda"\n\nclass Shop < Roda\nend\n'


def ruby(of: str, name: str, files: dict[str, str], command: str,
         **more: object) -> None:
    add("Ruby", of, name, files, command, **more)


ruby("Rack", "rack", {"config.ru": RACK}, PUMA())
ruby("Rack", "rack-gemfile",
     {"config.ru": RACK, "Gemfile": "source 'https://rubygems.org'\n"
      "gem 'puma'\ngem 'rack'\n"}, PUMA("bundle exec puma"))
ruby("Rack", "rack-binstub",
     {"config.ru": RACK, "bin/puma": "#!/usr/bin/env ruby\nload "
      "Gem.bin_path('puma', 'puma')\n"}, PUMA("bin/puma"))
ruby("Rails", "rails",
     {"config.ru": 'require_relative "config/environment"\n\n'
      "run Rails.application\nRails.application.load_server\n",
      "Rakefile": "", "bin/rails": "#!/usr/bin/env ruby\n",
      "config/environment.rb": """require "action_controller/railtie"

class Shop < Rails::Application
  config.eager_load = true
  config.secret_key_base = "x"
  config.hosts.clear
  config.logger = Logger.new($stdout)
  routes.append { root to: "hello#index" }
end

class HelloController < ActionController::Base
  def index = render(plain: "NAME")
end

Shop.initialize!
"""}, PUMA())
ruby("Sinatra", "sinatra-rackup",
     {"config.ru": 'require "./app"\n\nrun Sinatra::Application\n',
      "app.rb": CLASSIC}, PUMA())
ruby("Sinatra", "sinatra-modular-rackup",
     {"config.ru": 'require_relative "app"\n\nrun Shop\n', "app.rb": MODULAR},
     PUMA())
ruby("Sinatra", "sinatra", {"app.rb": CLASSIC}, SINATRA("app.rb"))
ruby("Sinatra", "sinatra-modular",
     {"app.rb": MODULAR + "\nShop.run! if $0 == __FILE__\n"},
     SINATRA("app.rb:Shop"))
ruby("Sinatra", "sinatra-myapp", {"myapp.rb": CLASSIC, "config.rb": ""},
     SINATRA("myapp.rb"))
ruby("Roda", "roda-rackup",
     {"config.ru": 'require_relative "app"\n\nrun Shop.app\n',
      "app.rb": ROUTES, **RODA}, PUMA(), stands_in=True)
ruby("Roda", "roda", {"app.rb": ROUTES, **RODA}, SINATRA("app.rb:Shop"),
     stands_in=True)
ruby("Hanami", "hanami",
     {"config.ru": 'require "./hanami_boot"\n\nrun Hanami.app\n',
      "hanami_boot.rb": "module Hanami\n  def self.app = ->(env) { "
      '[200, { "content-type" => "text/plain" }, ["NAME"]] }\nend\n',
      "config/app.rb": ""}, PUMA(), stands_in=True)

ruby("Padrino", "padrino",
     {"config.ru": 'require File.expand_path("../config/boot.rb", __FILE__)\n\n'
      "run Padrino.application\n", "config/boot.rb": "module Padrino\n"
      "  def self.application = ->(env) { "
      '[200, { "content-type" => "text/plain" }, ["NAME"]] }\nend\n'}, PUMA(),
     stands_in=True)
ruby("Grape", "grape",
     {"config.ru": 'require_relative "api"\n\nrun Shop::API\n',
      "api.rb": 'require_relative "grape"\n\nmodule Shop\n'
      "  class API < Grape::API\n  end\nend\n", "grape.rb":
      "module Grape\n  class API\n    def self.call(env) = "
      '[200, { "content-type" => "text/plain" }, ["NAME"]]\n  end\nend\n'},
     PUMA(), stands_in=True)
# Rack 3 has it in a gem of its own.
RACKUP = "gem 'rackup'\n" if any(
    Path("/usr/share/rubygems-integration/all/specifications").glob(
        "rackup-*.gemspec")) else ""
ruby("Sinatra", "sinatra-procfile",
     {"config.ru": 'require "./app"\n\nrun Sinatra::Application\n',
      "app.rb": CLASSIC, "Gemfile": f"gem 'puma'\ngem 'sinatra'\n{RACKUP}",
      "Procfile": "web: bundle exec rackup config.ru -p $PORT\n"},
     "bundle exec rackup config.ru -p $PORT")
ruby("Rack", "rack-procfile",
     {"config.ru": RACK, "Gemfile": "gem 'puma'\ngem 'rack'\n",
      "config/puma.rb": "threads 1, 5\nport ENV.fetch('PORT', 3000)\n",
      "Procfile": "web: bundle exec puma -C config/puma.rb\n"},
     "bundle exec puma -C config/puma.rb")

# ---- Perl

CODE = ('sub { [200, ["Content-Type" => "text/plain"], ["NAME"]] };\n')
LITE = ("use Mojolicious::Lite -signatures;\n\nget '/' => sub ($c) {\n"
        "  $c->render(text => 'NAME');\n};\n\napp->start;\n")
add("Perl", "PSGI", "psgi", {"app.psgi": CODE}, PSGI("app.psgi"))
add("Perl", "Dancer2", "dancer",
    {"bin/app.psgi": "use FindBin;\nuse lib \"$FindBin::Bin/../lib\";\n"
     "use Shop;\nShop->to_app;\n", "lib/Shop.pm": "package Shop;\n"
     f"sub to_app {{ {CODE.strip()} }}\n1;\n"}, PSGI("bin/app.psgi"),
    stands_in=True)
add("Perl", "Catalyst", "catalyst",
    {"shop.psgi": "use Shop;\nuse Steel;\nShop->psgi_app;\n",
     "script/shop_server.pl": "", "lib/Shop.pm":
     f"package Shop;\nsub psgi_app {{ {CODE.strip()} }}\n1;\n",
     "local/lib/perl5/Steel.pm": "package Steel;\n1;\n"},
    PSGI("shop.psgi"), stands_in=True)
add("Perl", "Mojolicious", "mojolicious-lite", {"myapp.pl": LITE},
    MOJO("myapp.pl"))
add("Perl", "Mojolicious", "mojolicious",
    {"script/shop": "use Mojo::Base -strict;\nuse Mojo::File qw(curfile);\n"
     "use lib curfile->dirname->sibling('lib')->to_string;\n"
     "use Mojolicious::Commands;\n\n"
     "Mojolicious::Commands->start_app('Shop');\n",
     "lib/Shop.pm": "package Shop;\nuse Mojo::Base 'Mojolicious', -signatures;"
     "\nsub startup ($self) {\n  $self->routes->get('/' => sub ($c) {\n"
     "    $c->render(text => 'NAME');\n  });\n}\n1;\n"},
    MOJO("script/shop"))
