# Licensed under the Apache License, Version 2.0; see LICENSE.
# dalli.rb SOCKET: dalli's verbs, and a session of Rack.
require "dalli"

client = Dalli::Client.new(ARGV[0], namespace: "dalli", compress: true,
                           socket_timeout: 60)

def same(wanted, found)
  raise "#{found.inspect}, not #{wanted.inspect}" unless wanted == found
end

client.set("name", {"user" => 7, "tags" => %w[a b]})
same({"user" => 7, "tags" => %w[a b]}, client.get("name"))
same(nil, client.get("missing"))
client.add("name", 1)
same(7, client.get("name")["user"])
client.replace("missing", 1)
same(nil, client.get("missing"))
client.set("raw", "b", 0, raw: true)
client.append("raw", "c")
client.prepend("raw", "a")
same("abc", client.get("raw", raw: true))
same(10, client.incr("counter", 1, 0, 10))
same(12, client.incr("counter", 2))
same(0, client.decr("counter", 100))
same(true, client.cas("name") { |old| old.merge("seen" => true) } && true)
same(true, client.get("name")["seen"])
value, cas = client.get_cas("name")
client.set("name", value)
client.set_cas("name", "late", cas)
client.delete_cas("name", cas)
same(value, client.get("name"))
large = Random.new(1).bytes(900_000)
client.set("large", large, 0, raw: true)
same(large.b, client.get("large", raw: true).b)
keys = (1..500).map { |n| "key#{n}" }
keys.each { |key| client.set(key, key * 3) }
same(keys.to_h { |key| [key, key * 3] }, client.get_multi(keys + ["none"]))
same(true, client.touch("raw", 1000) && true)
same("abc", client.gat("raw", 1000))
client.set("brief", 1, 1)
sleep 0.05 until client.get("brief").nil?
same(5, client.fetch("computed") { 5 })
same(5, client.fetch("computed") { 6 })
client.quiet { 100.times { |n| client.set("quiet#{n}", n) } } if client.respond_to?(:quiet)
client.multi { 100.times { |n| client.set("many#{n}", n) } }
same(99, client.get("many99"))
same(true, client.delete("name"))
same(nil, client.get("name"))
client.flush
same({}, client.get_multi(keys))
puts "fine"
