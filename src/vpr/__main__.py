"""`python -m vpr` is `vpr`."""

import sys

from vpr.cli import main

sys.exit(main())
