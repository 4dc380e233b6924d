# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# A backend of thin that listens on the socket that it gets as descriptor 3:
#
#     thin start -r thin_fd.rb -b AppPoolThin

require "thin"

class AppPoolThin < Thin::Backends::UnixServer
  def initialize(*)
    super(nil) # it has no file that it could remove
  end

  def connect
    @signature = EventMachine.attach_server(Socket.for_fd(3),
                                            Thin::UnixConnection,
                                            &method(:initialize_connection))
  end

  def to_s
    "descriptor 3"
  end
end
