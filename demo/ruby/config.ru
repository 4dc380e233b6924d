# Licensed under the Apache License, Version 2.0; see LICENSE.
# Found by its name: mod_apppool runs puma for a config.ru.
requests = 0

run lambda { |env|
  path = env.fetch("HTTP_X_FORWARDED_PREFIX", "") + env["PATH_INFO"]
  text = "Hello from Ruby, process #{Process.pid}: " \
         "request #{requests += 1} here, for #{path}\n"
  [200, { "content-type" => "text/plain; charset=utf-8" }, [text]]
}
