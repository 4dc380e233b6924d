# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the integration tests stand on: a private httpd and small apps."""
