# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The base of the integration tests: a private httpd and small apps."""
import sys
from pathlib import Path

# Programs that are not pytest use the harness, too.
sys.path.append(str(Path(__file__).resolve().parents[2] / "lib"))
