# Licensed under the Apache License, Version 2.0; see LICENSE.

require "puma/cli"

module AppPool
  # What puma is to do: the settings of config/puma.rb, and those of the pool,
  # which come first. Puma asks for them again when it serves. Then it gets what
  # it got before: config/puma.rb is read once, and config.ru as well.
  class Settings < Puma::Configuration
    # Blocks of config/puma.rb that puma runs in a master and its workers. Their
    # names differ with the version.
    BLOCKS = { before_fork: %i[before_fork],
               after_fork: %i[on_worker_boot before_worker_boot] }.freeze

    # options: threads, config and rackup, as puma's command has them; or nil.
    # events: those of puma, which config/puma.rb may use.
    # takes_blocks: the blocks above are for run_blocks(), and not for puma.
    def initialize(options, events, takes_blocks:)
      @apppool_known = {}
      @apppool_blocks = Hash.new { |all, kind| all[kind] = [] }
      min, max = options[:threads]&.split(":")
      super({}, { events: events }) do |user, file|
        user.threads min, max || min if min
        user.workers 0
        user.bind_to_activated_sockets "only"
        user.rackup options[:rackup] if options[:rackup]
        user.load options[:config] if options[:config]
        take_blocks(file) if takes_blocks
      end
    end

    def load
      once(:load) { super() }
    end

    def clamp
      once(:clamp) { super() }
    end

    def app
      once(:app) { super() }
    end

    def blocks?(kind)
      @apppool_blocks.key?(kind)
    end

    # A block that fails is logged, and puma goes on.
    def run_blocks(kind)
      @apppool_blocks[kind].each do |block, words|
        block.call(0, *words)
      rescue StandardError => e
        AppPool.say("a block #{kind} of puma's configuration failed: " \
                    "#{AppPool.short(e)}")
      end
    end

    private

    def once(name)
      @apppool_known.fetch(name) { @apppool_known[name] = yield }
    end

    # A block with a key gets a Hash, as from puma.
    def take_blocks(file)
      all = @apppool_blocks
      BLOCKS.each do |kind, names|
        names.select { |name| file.respond_to?(name) }.each do |name|
          file.define_singleton_method(name) do |key = nil, &block|
            all[kind] << [block, key ? [{}] : []]
          end
        end
      end
    end
  end
end
