# Licensed under the Apache License, Version 2.0; see LICENSE.
# The web app of test_web.py, for Rack servers; what it has to do stands there.

def echo(env)
  body = env["rack.input"].read
  seen = {
    "Method" => env["REQUEST_METHOD"],
    "Mount" => env["HTTP_X_FORWARDED_PREFIX"],
    "Path" => env["PATH_INFO"].gsub("%20", " "),
    "Query" => env["QUERY_STRING"], "Host" => env["HTTP_HOST"],
    "Mine" => env["HTTP_X_MINE"], "Cookies" => env["HTTP_COOKIE"],
    "Secret" => env["HTTP_AUTHORIZATION"], "Greeting" => ENV["GREETING"],
    "Pid" => Process.pid.to_s
  }
  headers = { "Content-Type" => "application/octet-stream",
              "Content-Length" => body.bytesize.to_s,
              "Set-Cookie" => "a=1\nb=2" }
  seen.each { |name, value| headers["X-#{name}"] = value.to_s }
  [200, headers, [body]]
end

def status(env)
  bare = %w[204 304].include?(env["QUERY_STRING"])
  headers = { "ETag" => '"tag"' }
  headers["Content-Type"] = "text/plain" unless bare
  [env["QUERY_STRING"].to_i, headers, bare ? [] : ["a body"]]
end

def stream(env)
  gate = File.join(ENV["HOLD_DIR"], env["QUERY_STRING"])
  events = Enumerator.new do |out|
    out << "data: first\n\n"
    4000.times { File.exist?(gate) ? break : sleep(0.005) }
    out << "data: second\n\n"
  end
  [200, { "Content-Type" => "text/event-stream" }, events]
end

def kill
  Process.kill(:KILL, Process.pid)
  sleep
end

def half
  parts = Enumerator.new do |out|
    out << "x" * 100_000
    kill
  end
  [200, { "Content-Type" => "text/plain", "Content-Length" => "200000" },
   parts]
end

run lambda { |env|
  case env["PATH_INFO"]
  when "/big"
    [200, { "Content-Type" => "text/plain" }, ["x" * (3 << 20)]]
  when "/status" then status(env)
  when "/stream" then stream(env)
  when "/crash" then kill
  when "/half" then half
  else echo(env)
  end
}
