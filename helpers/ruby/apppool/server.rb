# Licensed under the Apache License, Version 2.0; see LICENSE.

require_relative "settings"
require_relative "title"

module AppPool
  # Puma, on the socket that it gets as descriptor 3. It has no workers of its
  # own, whatever config/puma.rb says: the pool has them. Of puma, this uses what
  # puma 5.1 to 8 document: its configuration, its launcher and its events.
  class Server
    attr_reader :app

    # options: threads, config and rackup, as puma's command has them; or nil
    def initialize(options, is_template:)
      # Puma says READY=1 only if it has a library for that; here it is said
      # below.
      @place = ENV.delete("NOTIFY_SOCKET")
      @events = Puma::Events.respond_to?(:stdio) ? Puma::Events.stdio # puma 5
                                                 : Puma::Events.new
      @settings = Settings.new(options, @events, takes_blocks: is_template)
    end

    # Load config/puma.rb and the application, as puma does before it forks
    # workers.
    def load
      @settings.load
      @settings.clamp
      enter(@settings.options[:directory])
      ENV["RACK_ENV"] = @settings.environment
      @app = app = @settings.app
      @settings.configure { |user| user.app app } # its file may go
    end

    # kind: before_fork or after_fork
    def run_blocks(kind)
      @settings.run_blocks(kind)
    end

    # Serve until a signal ends it.
    def run
      @place = ENV.delete("NOTIFY_SOCKET") || @place
      place = @place
      @events.public_send(booted) { AppPool.notify(place) } if place
      launcher.run
    end

    # Try all of that, but serve nothing: see trial.rb.
    def try
      load
      blocks = Settings::BLOCKS.keys.all? { |kind| @settings.blocks?(kind) }
      raise "its configuration has another place for blocks" unless blocks

      @events.public_send(booted) {}
      methods = %i[run stop].map { |name| launcher.method(name) }
      return if methods.all? { |method| method.arity.between?(-1, 0) }

      raise "its launcher wants arguments"
    end

    private

    def launcher
      Puma::Launcher.new(@settings, events: @events)
    end

    # Puma enters it again, from there.
    def enter(directory)
      return unless directory

      directory = File.expand_path(directory)
      Dir.chdir(directory)
      @settings.configure { |user| user.directory directory }
    end

    # The name that puma 7 and later have, or the older one.
    def booted
      @events.respond_to?(:after_booted) ? :after_booted : :on_booted
    end
  end
end
