# Licensed under the Apache License, Version 2.0; see LICENSE.
# A Rack application that says who it is, for AppPreload. In its environment:
# BALLAST, MB that are loaded; THREAD, name of a thread that it starts; DATABASE,
# a file to which ActiveRecord makes a connection; LOGS, whether it has loggers.

LOADER = Process.pid
PROGRAM = File.basename($0)
VERSION = File.read("version").strip
BALLAST = Array.new((ENV["BALLAST"] || "0").to_i << 13) { |n| "#{n}" * 12 }
HOOKS = Hash.new { |hooks, name| hooks[name] = [] }
HOOKS["puma"] = $puma || []
WARM = []

if defined?(AppPool)
  AppPool.before_fork { HOOKS["before"] << Process.pid }
  AppPool.after_fork { HOOKS["after"] << Process.pid }
end
if ENV["THREAD"]
  Thread.new { sleep }.name = ENV["THREAD"]
end
raise "this does not load" if VERSION == "broken"
exit!(3) if VERSION == "exits"
if ENV["DATABASE"]
  require "active_record"
  ActiveRecord::Base.establish_connection(adapter: "sqlite3",
                                          database: ENV["DATABASE"])
  ActiveRecord::Base.connection.execute("SELECT 1")
end

LOGS = if ENV["LOGS"]
         [STDOUT.dup, STDERR.dup, File.open("/dev/stdout", "a")]
       else
         []
       end

def descriptors_of_database
  return "" unless ENV["DATABASE"]

  Dir.children("/proc/#{LOADER}/fd").count do |fd|
    File.readlink("/proc/#{LOADER}/fd/#{fd}") == ENV["DATABASE"]
  rescue SystemCallError
    false
  end
end

def mark
  File.binread("/proc/self/environ").split("\0").grep(/^APPPOOL_ID=/).join(",")
end

def facts
  { "pid" => Process.pid, "session" => Process.getsid,
    "forked" => Process.pid == LOADER ? 0 : 1, "loader" => LOADER,
    "version" => VERSION, "program" => PROGRAM, "random" => rand(1 << 60),
    "before" => HOOKS["before"].join(","), "after" => HOOKS["after"].join(","),
    "puma" => HOOKS["puma"].join(","), "warm" => WARM.join(","),
    "threads" => Thread.list.map(&:name).compact.join(","),
    "database" => descriptors_of_database,
    "mark" => mark,
    "title" => File.binread("/proc/self/cmdline").delete("\0").strip,
    "read" => $read, "options" => ENV["RUBYOPT"],
    "id" => ENV["APPPOOL_ID"], "fork" => ENV["APPPOOL_FORK"],
    "asked" => ENV["APPPOOL_WARM"], "notify" => ENV["NOTIFY_SOCKET"],
    "listen" => ENV.values_at("LISTEN_FDS", "LISTEN_PID").join }
end

run lambda { |env|
  path = env["PATH_INFO"]
  if path.start_with?("/warm")
    WARM << "#{Process.pid}@#{env["HTTP_HOST"]}#{path}?#{env["QUERY_STRING"]}"
  end
  puts path[5..-1] if path.start_with?("/say/")
  if path.start_with?("/log/")
    LOGS.each { |log| log.syswrite("#{path[5..-1]} #{"x" * 2000}\n") }
  end
  exit!(path[6..-1].to_i) if path.start_with?("/exit/")
  raise "asked for" if path == "/raise"
  body = facts.map { |name, value| "#{name}=#{value}\n" }.join
  [200, { "Content-Type" => "text/plain" }, [body]]
}
