<?php
// Licensed under the Apache License, Version 2.0; see LICENSE.
// session.php NUMBER TIMES: a session that this many requests have counted, and
// as many times more.
session_id("visitor$argv[1]");
for ($n = 0; $n < $argv[2]; $n++) {
    if (!session_start()) {
        exit(1);
    }
    $_SESSION["visits"] = ($_SESSION["visits"] ?? 0) + 1;
    $_SESSION["basket"] = str_repeat("apple ", $_SESSION["visits"]);
    session_write_close();
}
echo $_SESSION["visits"], "\n";
