# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# The template of a Rack application, for AppPreload.
#
#     ruby preload.rb [-t MIN:MAX] [-C FILE] [CONFIG.RU]
#
# It loads config.ru, and then forks each process, in which puma serves it: see
# doc/template.md. If APPPOOL_FORK is not set, it serves by itself. The options
# are those of puma.

require "optparse"
require_relative "stop"
require_relative "apppool/template"
require_relative "apppool/command"

template = AppPool::Template.new if ENV.key?("APPPOOL_FORK")
options = {}
OptionParser.new do |parser|
  parser.banner = "usage: preload.rb [-t MIN:MAX] [-C FILE] [CONFIG.RU]"
  parser.on("-t", "--threads MIN:MAX") { |text| options[:threads] = text }
  parser.on("-C", "--config FILE") { |text| options[:config] = text }
end.parse!
options[:rackup] = ARGV.shift

require "puma"
# What fails here is not the application.
difference = begin
  require_relative "apppool/trial"
  AppPool::Trial.difference
rescue StandardError, ScriptError => e
  AppPool.short(e)
end
if difference
  AppPool::Command.explain(difference)
  template ? template.refuse : AppPool::Command.execute(options)
end

server = AppPool::Server.new(options, is_template: !template.nil?)
AppPool::Title.call_it_puma
if template
  server.load
  template.fork(server)
end
server.run
