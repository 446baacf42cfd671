"""Runs the command line: `python -m vpr`."""

import sys

from vpr.cli import main

sys.exit(main())
