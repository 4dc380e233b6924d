# Licensed under the Apache License, Version 2.0; see LICENSE.
# The web app of test_web.py, for PSGI servers; what it has to do stands there.
use strict;
use warnings;

sub body_of {
    my $env = shift;
    my ($body, $part) = ("", "");
    $body .= $part while $env->{"psgi.input"}->read($part, 65536);
    return $body;
}

sub echo {
    my $env = shift;
    my $body = body_of($env);
    my %seen = (
        Method => $env->{REQUEST_METHOD},
        Mount => $env->{SCRIPT_NAME} || $env->{HTTP_X_FORWARDED_PREFIX},
        Path => $env->{PATH_INFO}, Query => $env->{QUERY_STRING},
        Host => $env->{HTTP_HOST}, Mine => $env->{HTTP_X_MINE},
        Cookies => $env->{HTTP_COOKIE}, Secret => $env->{HTTP_AUTHORIZATION},
        Greeting => $ENV{GREETING}, Pid => $$);
    return [200, ["Content-Type" => "application/octet-stream",
                  "Content-Length" => length $body,
                  "Set-Cookie" => "a=1", "Set-Cookie" => "b=2",
                  map { ("X-$_" => $seen{$_} // "") } keys %seen], [$body]];
}

sub status {
    my $code = shift;
    my $bare = $code == 204 || $code == 304;
    return [$code, ["ETag" => '"tag"',
                    $bare ? () : ("Content-Type" => "text/plain",
                                  "Content-Length" => 6)],
            $bare ? [] : ["a body"]];
}

sub stream {
    my $gate = "$ENV{HOLD_DIR}/" . shift;
    return sub {
        my $out = shift->([200, ["Content-Type" => "text/event-stream"]]);
        $out->write("data: first\n\n");
        for (1 .. 4000) {
            last if -e $gate;
            select undef, undef, undef, 0.005;
        }
        $out->write("data: second\n\n");
        $out->close;
    };
}

sub half {
    return sub {
        my $out = shift->([200, ["Content-Type" => "text/plain",
                                 "Content-Length" => 200000]]);
        $out->write("x" x 100000);
        kill KILL => $$;
    };
}

sub {
    my $env = shift;
    my $path = $env->{PATH_INFO};
    return [200, ["Content-Type" => "text/plain"], ["x" x (3 << 20)]]
        if $path eq "/big";
    return status($env->{QUERY_STRING}) if $path eq "/status";
    return stream($env->{QUERY_STRING}) if $path eq "/stream";
    return half() if $path eq "/half";
    kill KILL => $$ if $path eq "/crash";
    return echo($env);
};
