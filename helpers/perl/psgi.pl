# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Serves a PSGI application to mod_apppool, one request at a time.
#
#     perl psgi.pl [--listen ADDRESS] APP.PSGI
#
# It is the server of Plack, HTTP::Server::PSGI, on another socket: descriptor 3,
# as systemd passes it, or one that is made at ADDRESS, which is the path of a
# Unix socket, or HOST:PORT.
#
# The modules of the application are in lib/, as Catalyst makes it, or in
# local/lib/perl5, where Carton puts them.
#
# Trust: over a Unix socket all requests come from httpd, which removes the
# X-Forwarded headers of a client. So here these headers name the client. Over
# TCP they are headers like any others.

use strict;
use warnings;

# A Unix socket, for a server that believes that it has a TCP socket.
package AppPool::Socket;
use parent "IO::Socket::UNIX";
sub sockhost   { "localhost" }
sub sockport   { 0 }
sub peerhost   { "" }
sub peerport   { 0 }
sub setsockopt { 1 } # there is no TCP_NODELAY

package main;
use Cwd qw(getcwd);
use HTTP::Server::PSGI;
use IO::Socket::INET;
use Plack::Util;
use Socket qw(AF_UNIX sockaddr_family);

sub inherited {
    delete $ENV{LISTEN_FDNAMES};
    die "there is no socket to listen on: LISTEN_FDS and LISTEN_PID do not say "
        . "that descriptor 3 is one\n"
        unless (delete $ENV{LISTEN_FDS} // "") eq "1"
        && (delete $ENV{LISTEN_PID} // "") eq $$;
    my $listener = AppPool::Socket->new_from_fd(3, "+<") or die "fd 3: $!\n";
    return $listener;
}

sub made_at {
    my $address = shift;
    return AppPool::Socket->new(Local => $address, Listen => 1024)
        || die "$address: $!\n"
        if $address =~ m{/};
    return IO::Socket::INET->new(LocalAddr => $address, Listen => 1024,
                                 ReuseAddr => 1) || die "$address: $!\n";
}

# What httpd knows of the request.
sub forwarded {
    my $app = shift;
    my $base = $ENV{APP_BASE_URI} // "";
    return sub {
        my $env = shift;
        $env->{SCRIPT_NAME} = $base;
        $env->{"psgi.url_scheme"} = $env->{HTTP_X_FORWARDED_PROTO} || "http";
        $env->{REMOTE_ADDR} = $env->{HTTP_X_FORWARDED_FOR} // "";
        return $app->($env);
    };
}

my $address = @ARGV == 3 && $ARGV[0] eq "--listen" ? $ARGV[1] : undef;
splice @ARGV, 0, 2 if defined $address;
die "usage: psgi.pl [--listen ADDRESS] APP.PSGI\n" unless @ARGV == 1;

STDOUT->autoflush(1);
$ENV{PLACK_ENV} ||= $ENV{APPPOOL_ENV} || "production";
unshift @INC, grep { -d } map { getcwd() . "/$_" } "lib", "local/lib/perl5";
my $listener = defined $address ? undef : inherited();
my $app = Plack::Util::load_psgi($ARGV[0]);
$listener //= made_at($address);
$app = forwarded($app) if $listener->isa("AppPool::Socket");
$SIG{TERM} = sub { exit 0 };
HTTP::Server::PSGI->new(listen_sock => $listener)->run($app);
