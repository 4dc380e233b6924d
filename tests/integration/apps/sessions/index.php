<?php
// Licensed under the Apache License, Version 2.0; see LICENSE.
// Who is logged in is in the session.
if (!session_start()) {
    http_response_code(500);
    exit("no session");
}
if ($_SERVER["REQUEST_METHOD"] == "POST") {
    $_SESSION["name"] = $_POST["name"];
    $text = "welcome";
} else {
    $_SESSION["count"] = ($_SESSION["count"] ?? 0) + 1;
    $name = $_SESSION["name"] ?? "stranger";
    $text = "Hello, $name, {$_SESSION["count"]}";
}
session_write_close();
if (error_get_last()) {
    http_response_code(500);
    exit("not saved");
}
echo $text;
