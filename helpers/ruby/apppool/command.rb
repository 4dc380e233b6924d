# Licensed under the Apache License, Version 2.0; see LICENSE.

module AppPool
  # Puma's own command, for a puma that this loader does not know.
  module Command
    module_function

    def explain(difference)
      AppPool.say("puma #{Gem.loaded_specs["puma"]&.version} is not as this " \
                  "loader knows puma, so puma's own command is executed: " \
                  "#{difference}")
    end

    # This process becomes that command, with the options of the loader and the
    # same socket.
    def execute(options)
      words = ["--bind-to-activated-sockets", "only"]
      words.push("-t", options[:threads]) if options[:threads]
      words.push("-C", options[:config]) if options[:config]
      words.push(options[:rackup]) if options[:rackup]
      exec(Gem.ruby, Gem.bin_path("puma", "puma"), *words, 3 => 3)
    end
  end
end
