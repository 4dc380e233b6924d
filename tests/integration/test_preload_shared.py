# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What an application opens and starts while it loads, and a fork would share."""
import subprocess
from pathlib import Path

import pytest

from harness import peer, template
from harness.cases import cases
from harness.config import App
from harness.httpd import Httpd
from harness.places import TOP
from harness.procs import kill9
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("what is run does not depend on httpd")

HELPERS = TOP / "helpers"

# ---- which connections count

RUBY = """
require "%(helpers)s/ruby/apppool/template"
require "redis"
PORT, PATH = %(port)d, "%(path)s"

def tcp = TCPSocket.new("127.0.0.1", PORT)

def abstract
  there = UNIXServer.new("\\0apppool-#{$$}")
  [there, UNIXSocket.new("\\0apppool-#{$$}"), there.accept]
end

def datagrams
  there = Socket.new(:UNIX, :DGRAM)
  there.bind(Addrinfo.unix(PATH + ".log"))
  here = Socket.new(:UNIX, :DGRAM)
  here.connect(Addrinfo.unix(PATH + ".log"))
  udp = UDPSocket.new
  udp.connect("127.0.0.1", PORT)
  [there, here, udp]
end

def redis(**options)
  Redis.new(port: PORT, **options).tap { |one| one.call("GET", "x") }
end

# An object of the class that a version has which Debian has not: it shows only
# that the names of our table are used.
def like(name, pid: $$, **variables)
  *outer, last = name.split("::")
  place = outer.reduce(Object) { |all, one| all.const_set(one, Module.new) }
  object = place.const_set(last, Class.new).new
  object.instance_variable_set(:@pid, pid) if pid
  with(object, **variables)
end

def with(object = Object.new, **variables)
  variables.each do |name, value|
    object.instance_variable_set("@#{name}", value)
  end
  object
end

def redis_client(inherits: false, **options)
  config = Struct.new(:inherit_socket).new(inherits)
  like("RedisClient", config: config,
       raw_connection: with(io: with(io: tcp)), **options)
end

{ %(rows)s }.each do |name, make|
  Process.wait(fork do
    kept = make.call
    puts "#{name}=#{AppPool::Shared.connections.join(" ")}"
    $stdout.flush
    exit!(kept ? 0 : 1)
  end)
end

child = IO.popen("-", "r+")
unless child
  File.binwrite("/proc/self/comm", "caf\\xE9")
  puts
  $stdout.flush
  gets
  exit!
end
child.gets
puts "child=#{AppPool::Shared.children.join.dump}"
child.close

Dalli = "no module".freeze
kept = tcp
STDERR.reopen($stdout)
$stdout.sync = STDERR.sync = true
print "failed="
puts "breaks=#{AppPool::Shared.tell(is_auto: true)}"
kept.close
"""
PORT, PATH, NOTHING = "127.0.0.1:{port}", "{path}", ""
CONNECTIONS = [
    ("tcp", PORT), ("UNIXSocket.new(PATH)", PATH),
    ("abstract", "@apppool-"),
    ("TCPServer.new('127.0.0.1', 0)", NOTHING), ("UNIXSocket.pair", NOTHING),
    ("datagrams", NOTHING), ("tcp.tap(&:close)", NOTHING),
    ("redis", NOTHING), ("redis(path: PATH)", NOTHING),
    ("redis(inherit_socket: true)", PORT),
    ("like('Dalli::Server', sock: tcp)", NOTHING),
    ("like('Dalli::Protocol::ConnectionManager', sock: tcp)", NOTHING),
    ("like('Dalli::Server', pid: nil, sock: tcp)", PORT),
    ("redis_client", NOTHING), ("redis_client(inherits: true)", PORT),
    ("redis_client(pid: nil)", PORT)]


def test_connections(tmp_path: Path) -> None:
    """Not counted: what is no connection, and clients that compare pids. If
    it cannot be known what counts, something may break."""
    path, redis = tmp_path / "peer", peer.ruby_redis()
    # redis 4 connects again only if it may try twice.
    once = PORT if "/redis-4." in str(redis) else NOTHING
    rows = [*CONNECTIONS, ("redis(reconnect_attempts: 0)", once)]
    with peer.peers(path) as port:
        ruby = RUBY % {
            "helpers": HELPERS, "port": port, "path": str(path),
            "rows": ", ".join(f'"{code}" => proc {{ {code} }}'
                              for code, _ in rows)}
        done = subprocess.run(["ruby", "-I", redis, "-e", ruby], check=True,
                              text=True, stdout=subprocess.PIPE)
    said = dict(line.split("=", 1) for line in done.stdout.splitlines())
    for (code, counted), case in cases(rows):
        with case:
            wanted = counted.format(port=port, path=path)
            assert said[code].startswith(wanted) and bool(said[code]) == bool(
                wanted), said[code]
    assert said["child"].endswith(r' (caf\xE9)"')
    assert said["failed"].startswith(
        "apppool: it is not known what a fork would break: undefined method ")
    assert said["failed"].endswith(" (NoMethodError), or set AppPreload On")
    assert said["breaks"] == "true"


PYTHON = """
import ctypes, fcntl, os, socket, subprocess, sys, types
from apppool_wsgi import shared
import redis
port, path, other = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
tcp = socket.create_connection(("127.0.0.1", port))
local = socket.socket(socket.AF_UNIX)
local.connect(path)
pair = socket.socketpair()
udp = socket.socket(type=socket.SOCK_DGRAM)
udp.connect(("127.0.0.1", port))
client, cached = redis.Redis(port=other), redis.Redis(port=other)
for one in client, cached:
    assert one.execute_command("ECHO", "x") == b"x"
idle = cached.connection_pool._available_connections
# Those of redis-py 5.1 and later are inside of others if there is a cache.
idle[0] = types.SimpleNamespace(_conn=idle[0])
ring = [socket.create_connection(("127.0.0.1", port))]
ring.append(ring)
del ring
libc = ctypes.CDLL(None)
libc.inotify_init()
libc.timerfd_create(1, 0)
posix, flock = open("posix", "w"), open("flock", "w")
fcntl.lockf(posix, fcntl.LOCK_EX)
fcntl.flock(flock, fcntl.LOCK_EX)
ended = subprocess.Popen(["true"])
os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
print(child.pid)
socket.setdefaulttimeout(9)
socket.socket = None  # gevent has another class
print(*shared.tell(), sep="\\n")
assert all(os.get_blocking(one.fileno()) for one in (tcp, local, *pair, udp))
redis.connection.ConnectionPool = None
print(*shared.tell())
"""


def test_python(tmp_path: Path) -> None:
    """A connection that nobody can use any more is closed first. No socket
    changes because it was looked at."""
    path = tmp_path / "peer"
    with peer.peers(path) as port, peer.peers(tmp_path / "other") as other:
        done = subprocess.run(
            ["/usr/bin/python3", "-Bc", PYTHON, str(port), path, str(other)],
            check=True, text=True, stdout=subprocess.PIPE, cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH":
                 f"{HELPERS / 'python'}:{peer.python_redis()}"})
    child, *said, failed = done.stdout.splitlines()
    assert failed == "it is not known what a fork would break: TypeError(" \
        "'issubclass() arg 2 must be a class, a tuple of classes, or a union')"
    use = "is open, and two processes must not use one: close it, or open it " \
        "later"
    assert sorted(line.partition(" (desc")[0] for line in said) == sorted([
        f"the connection to 127.0.0.1:{port} {use}",
        f"the connection to {path} {use}",
        f"process {child} (cat) was started, and will end with the template: "
        "start it in a hook of os.register_at_fork()",
        "all forked processes share the inotify descriptor of the template",
        "all forked processes share the timer of the template",
        f"all forked processes share the template's lock on {tmp_path}/flock",
        f"no forked process has the template's lock on {tmp_path}/posix"])


# ---- what follows

# The app says which sockets it shares with its template.
CONFIG = """
require "socket"
LOADER = Process.pid
PORT = ENV["PEER"].to_i
%s
def sockets(pid)
  Dir.children("/proc/#{pid}/fd").map do |fd|
    File.readlink("/proc/#{pid}/fd/#{fd}")
  rescue SystemCallError
    ""
  end.grep(/socket:/)
end

run(lambda do |env|
  said = use
  shared = LOADER == $$ ? [] : sockets($$) & sockets(LOADER)
  body = "pid=#{$$}\\nforked=#{LOADER == $$ ? 0 : 1}\\n" \\
         "shared=#{shared.join}\\nsaid=#{said}\\n"
  [200, { "Content-Type" => "text/plain" }, [body]]
end)
"""
# Each of these is connected while the code loads.
SAFE = """
require "active_record"
require "dalli"
require "redis"
CACHE = Dalli::Client.new
CACHE.set("x", "from dalli")
REDIS = Redis.new(port: PORT)
REDIS.call("GET", "x")
CLOSED = TCPSocket.new("127.0.0.1", PORT)
AppPool.before_fork { CLOSED.close } if defined?(AppPool)
OF_PUMA = $of_puma

# A pool of ActiveRecord, whose adapter has a socket
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
DATABASE = TCPSocket.new("127.0.0.1", PORT)
ActiveRecord::Base.connection.define_singleton_method(:disconnect!) do
  DATABASE.close
  super()
end

def use
  [CACHE.get("x"), REDIS.call("GET", "from redis")].join(",")
end
"""
PUMA = """
require "socket"
$of_puma = TCPSocket.new("127.0.0.1", ENV["PEER"].to_i)
before_fork { $of_puma.close }
"""
UNSAFE = """
require "fiddle"
TCP = TCPSocket.new("127.0.0.1", PORT)
UNIX = UNIXSocket.new(ENV["PEER_PATH"])
CHILD = spawn("sleep", "1000")
LOCK = File.open("lock", "w")
LOCK.flock(File::LOCK_EX | File::LOCK_NB)

def call(name, *words)
  function = Fiddle::Handle::DEFAULT[name]
  types = words.map { Fiddle::TYPE_LONG }
  Fiddle::Function.new(function, types, Fiddle::TYPE_INT).call(*words)
end
call("inotify_init")
call("timerfd_create", 1, 0)
ROOM = Fiddle::Pointer.malloc(256)
ROOM[0, 256] = "\0" * 256
RING = call("syscall", 425, 1, ROOM.to_i) # io_uring_setup()

def use = RING
"""


def add(httpd: Httpd, name: str, code: str, port: int, *directives: str) -> App:
    app = httpd.app(
        name, f"AppSetEnv PEER {port}", f"AppSetEnv PEER_PATH {httpd.dir}/peer",
        f"AppSetEnv RUBYLIB {peer.ruby_redis()}", *directives, command=None)
    (app.root / "config.ru").write_text(CONFIG % code)
    return app


def test_what_follows(httpd: Httpd) -> None:
    """Most applications keep their template. With auto, one that must not be
    forked is executed, and that is said once; with On, it is warned of."""
    httpd.directives.append("LogLevel apppool:info")
    with peer.peers(httpd.dir / "peer") as port:
        safe = add(httpd, "safe", SAFE, port, "AppStore 8M")
        (safe.root / "config").mkdir(exist_ok=True)
        (safe.root / "config" / "puma.rb").write_text(PUMA)
        shop = add(httpd, "shop", UNSAFE, port)
        add(httpd, "on", UNSAFE, port, "AppPreload On")
        httpd.log.expect(r"shop\[\d+\] died: signal 9")
        httpd.start()
        one = template.who(httpd, host="safe")
        assert (one["forked"], one["shared"]) == ("1", "")
        assert one["said"] == "from dalli,from redis"
        assert not template.logged(
            httpd, r" safe template\[\d+\]> (?!apppool: the thread)")
        breaks = [rf"the connection to 127\.0\.0\.1:{port} is open, and two "
                  "processes must not use one: close it in AppPool.before_fork",
                  f"the connection to {httpd.dir}/peer is open, ",
                  r"process \d+ \(sleep\) was started, and will end with the "
                  "template: start it in AppPool.after_fork"]
        shares = ["inotify descriptor of", "timer of", "template's lock on "
                  f"{httpd.dir}/on/lock"]
        for _ in range(2):
            one = template.who(httpd)
            assert one["forked"] == "0"
            kill9(int(one["pid"]))
            wait_until(lambda gone=int(one["pid"]):
                       gone not in httpd.pids(shop), "it is gone")
        wait_until(lambda: template.logged(
            httpd, f"{template.GIVEN_UP}it ended with exit code 69 while it "
            "loaded; last output: apppool: .*, or set AppPreload On"),
            "the template is given up")
        for text in breaks:
            assert len(template.logged(
                httpd, rf" shop template\[\d+\]> apppool: {text}")) == 1, text
        one = template.who(httpd, host="on")
        assert one["forked"] == "1"
        if int(one["said"]) >= 0:
            shares.append("io_uring of")
        for text in [*breaks, *(f"all forked processes share the {share}"
                                for share in shares)]:
            wait_until(lambda text=text: template.logged(
                httpd, rf" on template\[\d+\]> apppool: {text}"), text)
        assert not template.logged(httpd, r" on template.*or set AppPreload")
        httpd.check()
