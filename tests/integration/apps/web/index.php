<?php
// Licensed under the Apache License, Version 2.0; see LICENSE.
// The web app of test_web.py, for php-cgi; what it has to do stands there.
$path = $_SERVER['PATH_INFO'] ?? '/';
$query = $_SERVER['QUERY_STRING'];

function kill_me() {
    posix_kill(getmypid(), 9);
}

switch ($path) {
case '/big':
    header('Content-Type: text/plain');
    for ($i = 0; $i < 48; $i++)
        echo str_repeat('x', 65536);
    break;
case '/status':
    http_response_code((int)$query);
    header('ETag: "tag"');
    if ($query !== '204' && $query !== '304') {
        header('Content-Type: text/plain');
        echo 'a body';
    }
    break;
case '/stream':
    header('Content-Type: text/event-stream');
    while (ob_get_level())
        ob_end_flush();
    echo "data: first\n\n";
    flush();
    $gate = getenv('HOLD_DIR') . '/' . $query;
    for ($i = 0; $i < 4000 && !file_exists($gate); $i++) {
        usleep(5000);
        clearstatcache();
    }
    echo "data: second\n\n";
    break;
case '/crash':
    kill_me();
case '/half':
    header('Content-Length: 200000');
    while (ob_get_level())
        ob_end_flush();
    echo str_repeat('x', 100000);
    flush();
    kill_me();
default:
    $body = file_get_contents('php://input');
    header('Content-Type: application/octet-stream');
    header('Set-Cookie: a=1');
    header('Set-Cookie: b=2', false);
    foreach (['Method' => $_SERVER['REQUEST_METHOD'],
              'Mount' => dirname($_SERVER['SCRIPT_NAME']) === '/'
                  ? '' : dirname($_SERVER['SCRIPT_NAME']),
              'Path' => $path, 'Query' => $query,
              'Host' => $_SERVER['HTTP_HOST'],
              'Mine' => $_SERVER['HTTP_X_MINE'] ?? '',
              'Cookies' => $_SERVER['HTTP_COOKIE'] ?? '',
              'Secret' => $_SERVER['HTTP_AUTHORIZATION'] ?? '',
              'Greeting' => getenv('GREETING'),
              'Pid' => getmypid()] as $name => $value)
        header("X-$name: $value");
    echo $body;
}
