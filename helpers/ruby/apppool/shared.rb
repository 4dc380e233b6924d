# Licensed under the Apache License, Version 2.0; see LICENSE.

require "socket"

module AppPool
  # What the application has opened and started while it loaded, and what a fork
  # makes of it.
  module Shared
    # Clients that compare pids before they use a connection, and make another
    # one if theirs is of another process: the class, and the variables that lead
    # from its object to the socket. An object without @pid does not compare.
    CAREFUL = {
      "Dalli::Server" => %i[@sock], # dalli 2
      "Dalli::Protocol::Binary" => %i[@sock], # dalli 3.0
      "Dalli::Protocol::ConnectionManager" => %i[@sock], # dalli 3.1 and later
      "Redis::Client" => %i[@connection @sock], # redis 3 and 4
      "RedisClient" => %i[@raw_connection @io @io] # redis 5
    }.freeze
    # Links of descriptors of which a fork has no copy of its own
    KERNEL = { "anon_inode:inotify" => "inotify descriptor",
               "anon_inode:[timerfd]" => "timer",
               "anon_inode:[io_uring]" => "io_uring" }.freeze

    module_function

    # Log it. Returns whether something may break in the forked processes.
    def tell(is_auto:)
      way_out = ", or set AppPreload On" if is_auto
      found = breaks
      (notices + found.map { |one| "#{one}#{way_out}" }).each do |text|
        AppPool.say(text)
      end
      found.any?
    end

    # The objects of clients may be others than we know.
    def breaks
      started = children.map do |child|
        "#{child} was started, and will end with the template: start it in " \
          "AppPool.after_fork"
      end
      used = connections.map do |peer|
        "the connection to #{peer} is open, and two processes must not use " \
          "one: close it in AppPool.before_fork"
      end
      started + used
    rescue StandardError => e
      ["it is not known what a fork would break: #{AppPool.short(e)}"]
    end

    # The peers of stream sockets that are connected
    def connections
      open = descriptors.select { |_, link| link.start_with?("socket:") }
      peers = open.map { |fd, _| [fd, peer_of(fd)] }.select(&:last)
      known = peers.empty? ? [] : careful
      peers.reject { |fd, _| known.include?(fd) }.map(&:last)
    end

    # nil: it is not connected, or has no address, like one of a pair.
    def peer_of(fd)
      socket = Socket.for_fd(fd)
      socket.autoclose = false
      return unless socket.getsockopt(:SOCKET, :TYPE).int == Socket::SOCK_STREAM

      address = socket.remote_address
      return address.inspect_sockaddr unless address.unix?

      path = address.unix_path
      path.sub(/\A\0/, "@") unless path.empty?
    rescue SystemCallError
      nil
    end

    # Descriptors of clients in CAREFUL
    def careful
      CAREFUL.flat_map do |name, path|
        type = find_class(name)
        clients = type ? ObjectSpace.each_object(type) : []
        clients.select { |client| compares?(client) }.
          map { |client| descriptor_of(client, path) }
      end
    end

    # It is not loaded for that.
    def find_class(name)
      name.split("::").reduce(Object) do |place, word|
        return unless place.const_defined?(word, false)
        return if place.autoload?(word)

        place.const_get(word, false)
      end
    end

    # Without a second try, redis 3 and 4 raise an exception instead.
    def compares?(client)
      inherits, options, config =
        %i[@inherit_socket @options @config].map do |name|
          client.instance_variable_get(name)
        end
      if options.is_a?(Hash)
        inherits ||= options[:inherit_socket] || options[:reconnect_attempts] == 0
      end
      inherits ||= config.inherit_socket if config.respond_to?(:inherit_socket)
      client.instance_variable_defined?(:@pid) && !inherits
    end

    def descriptor_of(client, path)
      socket = path.reduce(client) { |one, name| one.instance_variable_get(name) }
      socket.to_io.fileno if socket.respond_to?(:to_io)
    rescue IOError # it is closed
      nil
    end

    # Processes that were started and have not ended
    def children
      Dir.glob("/proc/self/task/*/children").
        flat_map { |file| read(file).split }.map do |pid|
          name, state = read("/proc/#{pid}/stat").scan(/\((.*)\) (.)/m).first
          "process #{pid} (#{name})" if name && state != "Z"
        end.compact
    end

    # What is shared or lost, but need not break anything
    def notices
      descriptors.flat_map do |fd, link|
        said = locks(fd).map { |kind| lock(kind, link) }
        said << "all forked processes share the #{KERNEL[link]} of the " \
                "template (descriptor #{fd})" if KERNEL[link]
        said
      end
    end

    def locks(fd)
      read("/proc/self/fdinfo/#{fd}").scan(/^lock:\s+\S+\s+(\S+)/).flatten.uniq
    end

    def lock(kind, file)
      return "no forked process has the template's lock on #{file}" if kind == "POSIX"

      "all forked processes share the template's lock on #{file}"
    end

    # Each with what it is
    def descriptors
      Dir.children("/proc/self/fd").map do |fd|
        [fd.to_i, File.readlink("/proc/self/fd/#{fd}")]
      rescue SystemCallError # it is closed meanwhile
        [fd.to_i, ""]
      end
    end

    # As bytes: the name of a process need not be UTF-8.
    def read(file)
      File.binread(file)
    rescue SystemCallError # it is gone meanwhile
      ""
    end
  end
end
