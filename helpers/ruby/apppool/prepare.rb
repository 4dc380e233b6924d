# Licensed under the Apache License, Version 2.0; see LICENSE.

require "stringio"

module AppPool
  # What a template does when the application is loaded, before it forks.
  module Prepare
    module_function

    # Ask for a page, so that more is loaded before the fork.
    def warm(app, path, host)
      status, _, body = app.call(environment(path, host))
      body.each { |part| part }
      return if (200..399).cover?(status.to_i)

      AppPool.say("the template got status #{status} for #{path}")
    rescue StandardError, ScriptError => e
      STDERR.puts e.full_message(highlight: false)
      AppPool.say("the template got no response for #{path}")
    ensure
      body.close if body.respond_to?(:close)
    end

    def environment(path, host)
      path, _, query = path.partition("?")
      { "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => ENV["SCRIPT_NAME"] || "",
        "PATH_INFO" => path, "QUERY_STRING" => query,
        "REQUEST_PATH" => path, "REQUEST_URI" => "#{path}?#{query}".chomp("?"),
        "SERVER_PROTOCOL" => "HTTP/1.1", "HTTP_VERSION" => "HTTP/1.1",
        "SERVER_NAME" => host, "SERVER_PORT" => "80", "HTTP_HOST" => host,
        "HTTP_USER_AGENT" => "mod_apppool (AppReady)",
        "REMOTE_ADDR" => "127.0.0.1",
        "rack.version" => [1, 6], "rack.url_scheme" => "http",
        "rack.input" => StringIO.new("".b), "rack.errors" => STDERR,
        "rack.multithread" => true, "rack.multiprocess" => true,
        "rack.run_once" => false, "rack.hijack?" => false }
    end

    # Two processes must not use one connection.
    def disconnect
      return unless defined?(::ActiveRecord::ConnectionAdapters::ConnectionPool)

      ObjectSpace.each_object(
        ::ActiveRecord::ConnectionAdapters::ConnectionPool, &:disconnect!)
    end

    # They do not exist in the forked processes.
    def name_threads
      (Thread.list - [Thread.current]).each do |thread|
        AppPool.say("the thread #{thread.name || thread.inspect} of the " \
                    "template will not be in the processes that are forked " \
                    "from it")
      end
    end

    # Objects that survive become old ones, which later collections leave
    # alone, and so their memory stays shared.
    def collect_garbage
      return Process.warmup if Process.respond_to?(:warmup)

      GC.start
    end
  end
end
