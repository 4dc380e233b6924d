# Licensed under the Apache License, Version 2.0; see LICENSE.
# Who is logged in is in the session.
require "action_controller/railtie"

class Shop < Rails::Application
  config.eager_load = true
  config.secret_key_base = "a" * 64
  config.logger = Logger.new($stdout)
  # RECIPE
  routes.append do
    root to: "hello#index"
    post "login", to: "hello#login"
  end
end

class HelloController < ActionController::Base
  def index
    session["count"] = (session["count"] || 0) + 1
    name = session["name"] || "stranger"
    render(plain: "Hello, #{name}, #{session["count"]}")
  end

  def login
    session["name"] = params["name"]
    render(plain: "welcome")
  end
end

Shop.initialize!
run Shop
