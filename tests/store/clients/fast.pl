# Licensed under the Apache License, Version 2.0; see LICENSE.
# fast.pl SOCKET: Cache::Memcached::Fast
use strict;
use warnings;
use Cache::Memcached::Fast;

my $client = Cache::Memcached::Fast->new(
    {servers => [$ARGV[0]], namespace => "perl:", max_size => 1 << 20,
     connect_timeout => 60, io_timeout => 60});

sub same {
    my ($wanted, $found, $what) = @_;
    $_ = defined $_ ? $_ : "undef" for $wanted, $found;
    die "$what: $found, not $wanted\n" if $wanted ne $found;
}

same(1, $client->set("name", {user => 7}), "set");
same(7, $client->get("name")->{user}, "get");
same(undef, scalar $client->get("missing"), "get of none");
same("", scalar $client->add("name", 1), "add");
same("", scalar $client->replace("missing", 1), "replace");
same(1, $client->set("raw", "b"), "set");
same(1, $client->append("raw", "c"), "append");
same(1, $client->prepend("raw", "a"), "prepend");
same("abc", $client->get("raw"), "get");
same(1, $client->set("counter", 10), "set");
same(12, $client->incr("counter", 2), "incr");
same(0, 0 + $client->decr("counter", 100), "decr");
my $got = $client->gets("raw");
same(1, $client->cas("raw", $got->[0], "new"), "cas");
same("", scalar $client->cas("raw", $got->[0], "late"), "late cas");
my $large = join "", map { chr(33 + $_ * 7919 % 90) } 1 .. 900_000;
same(1, $client->set("large", $large), "large");
same($large, $client->get("large"), "large");
$client->set_multi(map { ["key$_", "value $_"] } 1 .. 500);
my $many = $client->get_multi(map { "key$_" } 1 .. 600);
same(500, scalar keys %$many, "get_multi");
same("value 77", $many->{key77}, "get_multi");
same(1, $client->touch("raw", 1000), "touch");
same("new", $client->gat(1000, "raw"), "gat") if $client->can("gat");
$client->set("brief", 1, 1);
while (defined $client->get("brief")) {
    select undef, undef, undef, 0.05;
}
same(1, $client->delete("raw"), "delete");
same("", scalar $client->delete("raw"), "delete of none");
$client->set("late$_", $_, sub { }) for 1 .. 50;
$client->nowait_push if $client->can("nowait_push");
$client->flush_all;
same(undef, scalar $client->get("key77"), "flush_all");
print "fine\n";
