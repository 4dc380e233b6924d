# Licensed under the Apache License, Version 2.0; see LICENSE.

module AppPool
  # A title that is longer than the command line would take the place of the
  # environment that others see, with the id of the process. An address in
  # brackets, as puma has it, goes first.
  module Title
    LINE = File.binread("/proc/self/cmdline").tr("\0", " ").strip
    ROOM = LINE.bytesize

    # Code that asks for its server by the name of the program finds what it finds
    # without a template. The title of the process stays.
    def self.call_it_puma
      $0 = "puma"
      Process.setproctitle(LINE)
    end

    def setproctitle(title)
      title = title.sub(/ \([^)]*\)/, "") if title.bytesize > ROOM
      super(title.byteslice(0, ROOM))
    end
  end
end

Process.singleton_class.prepend(AppPool::Title)
