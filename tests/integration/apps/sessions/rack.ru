# Licensed under the Apache License, Version 2.0; see LICENSE.
# Who is logged in is in the session.
require "rack"

# RECIPE

run ->(env) {
  request = Rack::Request.new(env)
  session = request.session
  if request.path == "/login"
    session["name"] = request.params["name"]
    text = "welcome"
  else
    session["count"] = (session["count"] || 0) + 1
    text = "Hello, #{session["name"] || "stranger"}, #{session["count"]}"
  end
  [200, { "content-type" => "text/plain" }, [text]]
}
