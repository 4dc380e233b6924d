# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# In place of puma's plugin of this name, which `rails new` writes into
# config/puma.rb. That one restarts puma when tmp/restart.txt changes. So does
# the pool, process by process, and puma itself would lose the socket.

require "puma/plugin"

Puma::Plugin.create {}
