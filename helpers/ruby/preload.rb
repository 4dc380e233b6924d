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

template = AppPool::Template.new if ENV.key?("APPPOOL_FORK")

require "puma/cli"
require_relative "apppool/server"

options = {}
OptionParser.new do |parser|
  parser.banner = "usage: preload.rb [-t MIN:MAX] [-C FILE] [CONFIG.RU]"
  parser.on("-t", "--threads MIN:MAX") { |text| options[:threads] = text }
  parser.on("-C", "--config FILE") { |text| options[:config] = text }
end.parse!
options[:rackup] = ARGV.shift
server = AppPool::Server.new(options)
if template
  template.loading { server.load }
  template.fork(server)
end
server.run
