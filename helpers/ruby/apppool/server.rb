# Licensed under the Apache License, Version 2.0; see LICENSE.

module AppPool
  # Puma, on the socket that it gets as descriptor 3. It has no workers of its
  # own, whatever config/puma.rb says: the pool has them.
  class Server
    NAME = "puma #{Puma::Const::PUMA_VERSION}".freeze

    attr_reader :app

    # options: threads, config and rackup, as puma has them; or nil
    def initialize(options)
      # Puma says READY=1 only if it has a library for that; here it is said
      # below.
      @place = ENV.delete("NOTIFY_SOCKET")
      min, max = options[:threads]&.split(":")
      @config = Puma::Configuration.new do |user|
        user.threads min, max || min if min
        user.workers 0
        user.bind_to_activated_sockets "only"
        user.rackup options[:rackup] if options[:rackup]
        user.load options[:config] if options[:config]
      end
    end

    # Load config/puma.rb and the application, as puma does before it forks
    # workers. What config/puma.rb sets is read once: two times would be two
    # blocks of each kind.
    def load
      @config.load
      options[:config_files] = ["-"]
      options.file_options.delete(:config_files)
      @config.clamp
      Dir.chdir(options[:directory]) if options[:directory]
      ENV["RACK_ENV"] = options[:environment]
      @app = options[:app] || builder.parse_file(@config.rackup)
      @app = @app.first if @app.is_a?(Array) # Rack 2: options, too
      options[:app] = @app
    end

    # A block of config/puma.rb that fails is logged, and puma goes on.
    def run_hooks(key)
      @config.run_hooks(key, 0, log)
    end

    # Serve until a signal ends it.
    def run
      @place = ENV.delete("NOTIFY_SOCKET") || @place
      launcher = Puma::Launcher.new(@config)
      launcher.events.on_booted { AppPool.notify(@place) } if @place
      short_title(launcher)
      launcher.run
    end

    private

    def options
      @config.options
    end

    def builder
      require "rack"
      require "rack/builder"
      ::Rack::Builder
    rescue LoadError
      Puma::Rack::Builder
    end

    # Where puma 6 logs, and puma 5.
    def log
      (defined?(Puma::LogWriter) ? Puma::LogWriter : Puma::Events).stdio
    end

    # A title that is longer than the command line takes the place of the
    # environment that others see, with the id of the process.
    def short_title(launcher)
      room = File.binread("/proc/self/cmdline").bytesize
      title = "#{NAME} [#{File.basename(Dir.pwd)}]"
      launcher.define_singleton_method(:set_process_title) do
        Process.setproctitle(title.byteslice(0, room - 1))
      end
    end
  end
end
