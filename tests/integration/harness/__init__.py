# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The base of the integration tests: a private httpd and small apps."""
