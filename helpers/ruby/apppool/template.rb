# Licensed under the Apache License, Version 2.0; see LICENSE.

require "socket"
require_relative "prepare"
require_relative "shared"

# What an application may say of its forks:
#
#     AppPool.before_fork { }   once, in the template, when it is loaded
#     AppPool.after_fork { }    in each process, before it serves
module AppPool
  @before = []
  @after = []

  class << self
    def before_fork(&block)
      @before << block
    end

    def after_fork(&block)
      @after << block
    end

    def run_before_fork
      @before.each(&:call)
    end

    def run_after_fork
      @after.each(&:call)
    end

    def say(text)
      STDERR.puts "apppool: #{text}"
    end

    # An exception in one line
    def short(error)
      "#{error.message.lines.first.to_s.chomp} (#{error.class})"
    end

    # This process is ready.
    def notify(place)
      Socket.open(:UNIX, :DGRAM) do |sock|
        sock.send("READY=1", 0, Socket.pack_sockaddr_un(place))
      end
    end
  end

  # The protocol of doc/template.md: a template that forks each process. It is
  # made before the application is loaded. The variables of the template are no
  # concern of the application.
  class Template
    VERSION = "1".freeze
    REFUSES = 69 # exit code: this cannot be preloaded
    ORDER_MAX = 4096
    PARTS = 4 # listener, output, go, report
    ROOM = 64 # bytes for their descriptors

    def initialize
      version = ENV.delete("APPPOOL_FORK")
      unless version == VERSION && Process.respond_to?(:fork)
        AppPool.say(version == VERSION ? "this Ruby cannot fork" :
                    "this version of the protocol is not known")
        refuse
      end
      %w[LISTEN_FDS LISTEN_PID LISTEN_FDNAMES].each { |name| ENV.delete(name) }
      @place = ENV.delete("NOTIFY_SOCKET")
      @path = ENV.delete("APPPOOL_WARM")
      @host = ENV.delete("APPPOOL_WARM_HOST") || "localhost"
      @is_auto = ENV.delete("APPPOOL_PRELOAD") == "auto"
      @id = ENV.fetch("APPPOOL_ID")
      @orders = Socket.for_fd(3)
      @orders.autoclose = false
      @orders.close_on_exec = true
      @output = STDOUT.stat
      STDOUT.sync = true
    end

    # This cannot be a template: the command has to be executed.
    def refuse
      exit!(REFUSES)
    end

    # The application is loaded. It returns in each forked process, when that is
    # to serve, and never in the template.
    def fork(server)
      Prepare.warm(server.app, @path, @host) if @path
      AppPool.run_before_fork
      server.run_blocks(:before_fork)
      Prepare.disconnect
      Prepare.name_threads
      Prepare.collect_garbage # that may close what nobody uses
      refuse if Shared.tell(is_auto: @is_auto) && @is_auto
      # No code of the application has to run at the end of the template.
      trap("TERM", "SYSTEM_DEFAULT")
      AppPool.notify(@place)
      nil until obey
      AppPool.run_after_fork
      server.run_blocks(:after_fork)
    end

    private

    # Take an order. Returns true in the new process.
    def obey
      text, _, _, *control = @orders.recvmsg(ORDER_MAX, 0, ROOM,
                                             scm_rights: true)
      exit!(0) if text.nil? || text.empty?
      parts = control.flat_map { |one| one.unix_rights || [] }
      return true if parts.size == PARTS && fork_twice(text, parts)

      parts.each(&:close)
      false
    end

    # The template lets the order go if it cannot fork.
    def fork_twice(text, parts)
      flush
      begin
        child = fork_once
      rescue SystemCallError, NoMemoryError => e
        AppPool.say("no process can be forked: #{e.message}")
        return false
      end
      if child
        reap(child)
        return false
      end
      be_the_middle(text, parts)
    end

    # Returns in the grandchild only.
    def be_the_middle(text, parts)
      status = 1
      middle = Process.pid
      if fork_once
        status = 0
        exit!(0)
      end
      begin_process(text, parts, middle)
      status = nil
      true
    rescue Exception => e # rubocop:disable Lint/RescueException
      STDERR.puts e.full_message(highlight: false)
      false
    ensure
      exit!(status) if status
    end

    # Become the process that the order wants.
    def begin_process(text, parts, middle)
      listener, output, go, report = parts
      Process.setsid
      # As Ruby opens them itself: who reopens them for "a" must not find "r+".
      writer = IO.for_fd(output.fileno, "w", autoclose: false)
      STDOUT.reopen(writer)
      STDERR.reopen(writer)
      STDOUT.sync = STDERR.sync = true
      replace_output(output)
      @orders.reopen(listener)
      @orders.autoclose = false
      text.split("\0").each do |word|
        name, value = word.split("=", 2)
        ENV[name] = value
      end
      ENV["LISTEN_PID"] = Process.pid.to_s
      sleep 0.0001 while Process.ppid == middle
      mark(@id, ENV["APPPOOL_ID"])
      report.syswrite("#{Process.pid}\n")
      report.close
      exit!(1) unless go.read(1) == "g"
      [listener, output, go].each(&:close)
    end

    # A logger that was made while the code was loaded may have a copy of the
    # template's output, or have opened /dev/stdout.
    def replace_output(new)
      Dir.children("/proc/self/fd").each do |name|
        is = File.stat("/proc/self/fd/#{name}")
        next unless is.dev == @output.dev && is.ino == @output.ino

        copy = IO.for_fd(name.to_i, autoclose: false)
        closes = copy.close_on_exec?
        copy.reopen(new)
        copy.close_on_exec = closes
      rescue Errno::ENOENT
        # it was the descriptor of this list
      end
    end

    # Ruby flushes $stdout and $stderr, too, and raises what they raise.
    def fork_once
      kept = [$stdout, $stderr]
      $stdout = STDOUT
      $stderr = STDERR
      Process.fork
    ensure
      $stdout, $stderr = kept
    end

    # Otherwise each forked process would print what is left in a buffer.
    def flush
      [$stdout, $stderr, STDOUT, STDERR].each do |stream|
        stream.flush
      rescue StandardError
        # the application has closed it, or put anything in its place
      end
    end

    def reap(child)
      Process.wait(child)
    rescue Errno::ECHILD
      # the application ignores SIGCHLD, or waits for any child
    end

    # Write the id where /proc/PID/environ shows that of the template.
    def mark(old, new)
      words = File.binread("/proc/self/stat").rpartition(")").last.split
      start, stop = words.values_at(47, 48).map(&:to_i)
      File.open("/proc/self/mem", "r+b") do |memory|
        at = "\0#{memory.pread(stop - start, start)}".
             index("\0APPPOOL_ID=#{old}\0")
        if at && old.bytesize == new.bytesize
          memory.pwrite(new, start + at + "APPPOOL_ID=".bytesize)
        else
          AppPool.say("the id of the process cannot be written into its " \
                      "environment")
        end
      end
    end
  end
end
