# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# The rackup file of an application of Sinatra or Roda that has none.
# APPPOOL_APP is FILE, for Sinatra's methods at the top of a file, or FILE:CLASS.

file, name = ENV.fetch("APPPOOL_APP").split(":", 2)
require File.expand_path(file)

app = name ? Object.const_get(name) : Sinatra::Application
run app.respond_to?(:app) && !app.respond_to?(:call) ? app.freeze.app : app
