# Licensed under the Apache License, Version 2.0; see LICENSE.
# What puma runs in a master and its workers.
$puma = []
$read = ($read || 0) + 1

tag "long" * 50 # in the title of the process
workers ENV.fetch("WORKERS", 0).to_i
before_fork { $puma << "before/#{Process.pid}" }
on_worker_boot { $puma << "boot/#{Process.pid}" }
