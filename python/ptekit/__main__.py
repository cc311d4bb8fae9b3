"""`python -m ptekit` is the command `pte`."""

import sys

from ._command import main

sys.exit(main())
