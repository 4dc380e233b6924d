# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# With this file, puma listens, restarts and ends as the pool wants,
# whatever has started it: `puma`, `rackup`, `rails server`, a program of its own.
# The module adds it to RUBYOPT (doc/apps.md). It changes nothing in a program
# without puma. It does not define AppPool, because applications ask
# whether that is defined.
#
# Puma has the socket of LISTEN_FDS, and closes it if its configuration names
# another place. That it does not, is its option bind_to_activated_sockets, which
# only puma's own command has. What the option does is done here, after puma has
# read its configuration and before it listens.
#
# Puma's plugin tmp_restart is found in inert/, before that of puma.
#
# Puma handles SIGTERM and SIGINT in a trap: it writes to a pipe there, and
# another thread closes that pipe. Since Ruby 3.3, a thread that closes a pipe
# waits until no other thread writes to it. A thread in a trap cannot say that it
# has written, because it must not take a mutex. So puma may wait for ever. Here
# the pipe is written by a thread of its own, outside of the trap.
$LOAD_PATH.unshift(File.join(__dir__, "inert"))

module AppPoolStop
  SIGNALS = %w[TERM SIGTERM INT SIGINT].freeze

  # Before Signal.trap.
  def trap(signal, *command, &block)
    stop = AppPoolStop.outside(block) if SIGNALS.include?(signal.to_s)
    stop ? super(signal) { stop.call } : super
  end

  class << self
    # What has to be called in place of a block, if it is one of puma; or nil.
    def outside(block)
      owner = block && block.binding.receiver
      if launches?(owner)
        take_socket(owner)
        of_launcher(owner, block)
      elsif defined?(::Puma::Cluster::Worker) &&
            ::Puma::Cluster::Worker === owner
        -> { Thread.new(&block) }
      end
    rescue ArgumentError, NameError
      nil # it was not written in Ruby, or is a server that nobody knows
    end

    private

    # The launcher of puma. A later version may call its class otherwise.
    def launches?(owner)
      owner.class.ancestors.any? { |one| one.name.to_s.start_with?("Puma::") } &&
        owner.respond_to?(:events) && owner.respond_to?(:stop)
    end

    # A launcher that was told to take it, by an option or by its own command,
    # keeps what else it opens.
    def take_socket(launcher)
      return unless launcher.respond_to?(:binder)

      options, binder = launcher.options, launcher.binder
      return if options[:bind_to_activated_sockets]

      options[:binds] =
        binder.synthesize_binds_from_activated_fs(options[:binds], true)
    end

    # The block for SIGTERM waits for the end of the server, and raises. Before
    # puma serves, there is nothing to wait for, and only that ends the start.
    def of_launcher(launcher, block)
      events = launcher.events
      booted = events.respond_to?(:after_booted) ? :after_booted : :on_booted
      return unless events.respond_to?(booted)

      serves = false
      events.public_send(booted) { serves = true }
      -> { serves ? Thread.new { launcher.stop } : block.call }
    end
  end
end

Signal.singleton_class.prepend(AppPoolStop)
