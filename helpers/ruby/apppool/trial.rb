# Licensed under the Apache License, Version 2.0; see LICENSE.

require_relative "server"

module AppPool
  # Is this puma as we know puma? What is used of it is tried before anything of
  # the application is loaded, in a process of its own: so nothing is left of it.
  module Trial
    CONFIG = File.join(__dir__, "trial_config.rb").freeze
    GOOD = "good".freeze
    # What the environment may ask of puma
    ASKS = /\APUMA_|THREADS\z|\AWEB_CONCURRENCY\z|\ALISTEN_|\ANOTIFY_SOCKET\z/

    module_function

    # What is not as it should be; nil: nothing.
    def difference
      reader, writer = IO.pipe
      child = Process.fork { tell(writer) }
      writer.close
      text = reader.read
      reader.close
      Process.wait(child)
      return if text == GOOD

      text.empty? ? "it ends" : text
    end

    def tell(writer)
      ENV.delete_if { |name, _| ASKS.match?(name) }
      Server.new({ threads: "1:2", config: CONFIG }, is_template: true).try
      writer.write(GOOD)
    rescue StandardError, ScriptError => e
      writer.write(AppPool.short(e))
    ensure
      writer.close
      exit!
    end
  end
end
