# Licensed under the Apache License, Version 2.0; see LICENSE.
"""How puma ends, with Ruby 3.3 and later"""
import subprocess

import pytest

from harness.places import TOP

# What sets a trap, and what it says at the signal. In a trap, no mutex can be locked.
TRAPS = """
def where
  Mutex.new.synchronize { puts "outside" }
rescue ThreadError
  puts "in a trap"
end

class Base
  def go
    Signal.trap("%(signal)s") { where }
    yield self if block_given?
    Process.kill("%(signal)s", $$)
    sleep 0.001 until Thread.list.size == 1
  end
end
module Puma
  class Events
    def %(booted)s(&block) = @block = block
    def fire = @block.call
  end
  class Launcher < Base
    attr_reader :events
    def initialize = @events = Events.new
    def stop = [where, puts("stop")]
  end
  class Cluster
    class Worker < Base
    end
  end
end
Base.new.go
Puma::Cluster::Worker.new.go
Puma::Launcher.new.go
Puma::Launcher.new.go { |one| one.events.fire }
Signal.trap(:TERM, "IGNORE")
Process.kill("TERM", $$)
"""


@pytest.mark.parametrize("booted, signal", [
    ("on_booted", "TERM"), ("after_booted", "SIGINT")])
def test_traps(booted: str, signal: str) -> None:
    """Only the traps of puma change, and that of a launcher only when it serves:
    before that, SIGTERM has to end its start."""
    done = subprocess.run(
        ["ruby", "-r", TOP / "helpers" / "ruby" / "stop.rb", "-e",
         TRAPS % {"booted": booted, "signal": signal}], check=True, capture_output=True,
        text=True)
    assert done.stdout.splitlines() == ["in a trap", "outside", "in a trap",
                                        "outside", "stop"]
