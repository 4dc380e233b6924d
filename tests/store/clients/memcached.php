<?php
// Licensed under the Apache License, Version 2.0; see LICENSE.
// memcached.php SOCKET text|binary: the verbs of php-memcached.

function same($wanted, $found): void
{
    if ($wanted !== $found) {
        throw new Exception(var_export($found, true) . ", not "
            . var_export($wanted, true));
    }
}

$client = new Memcached();
$client->setOption(Memcached::OPT_BINARY_PROTOCOL, $argv[2] === "binary");
$client->setOption(Memcached::OPT_COMPRESSION, false);
$client->setOption(Memcached::OPT_POLL_TIMEOUT, 60000);
$client->addServer($argv[1], 0);

same(true, $client->set("name", ["user" => 7, "tags" => ["a", "b"]]));
same(["user" => 7, "tags" => ["a", "b"]], $client->get("name"));
same(false, $client->get("missing"));
same(Memcached::RES_NOTFOUND, $client->getResultCode());
same(false, $client->add("name", 1));
same(false, $client->replace("missing", 1));
same(true, $client->set("raw", "b"));
same(true, $client->append("raw", "c"));
same(true, $client->prepend("raw", "a"));
same("abc", $client->get("raw"));
same(true, $client->set("counter", 10));
same(12, $client->increment("counter", 2));
same(0, $client->decrement("counter", 100));
$got = $client->get("raw", null, Memcached::GET_EXTENDED);
same(true, $client->cas($got["cas"], "raw", "new"));
same(false, $client->cas($got["cas"], "raw", "late"));
same(Memcached::RES_DATA_EXISTS, $client->getResultCode());
$large = str_repeat(random_bytes(1000), 900);
same(true, $client->set("large", $large));
same($large, $client->get("large"));
$many = [];
for ($n = 0; $n < 500; $n++) {
    $many["key$n"] = "value $n";
}
same(true, $client->setMulti($many));
$found = $client->getMulti(array_keys($many));
ksort($found);
ksort($many);
same($many, $found);
same(true, $client->touch("raw", 1000));
same(true, $client->set("brief", 1, 1));
while ($client->get("brief") !== false) {
    usleep(50000);
}
same(true, $client->delete("raw"));
same(false, $client->delete("raw"));
same(false, $client->set(str_repeat("k", 251), 1));
same(true, $client->flush());
same([], $client->getMulti(array_keys($many)));
echo "fine\n";
