# Licensed under the Apache License, Version 2.0; see LICENSE.

module AppPool
  # A title that is longer than the command line would take the place of the
  # environment that others see, with the id of the process. An address in
  # brackets, as puma has it, goes first.
  module Title
    ROOM = File.binread("/proc/self/cmdline").bytesize - 1

    def setproctitle(title)
      title = title.sub(/ \([^)]*\)/, "") if title.bytesize > ROOM
      super(title.byteslice(0, ROOM))
    end
  end
end

Process.singleton_class.prepend(AppPool::Title)
