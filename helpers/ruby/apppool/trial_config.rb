# Licensed under the Apache License, Version 2.0; see LICENSE.
# A config/puma.rb with all that the loader needs of one: see trial.rb.

app { |_| [200, {}, []] }
directory Dir.pwd
before_fork {}
respond_to?(:before_worker_boot) ? before_worker_boot {} : on_worker_boot {}
