"""The console script `pte`."""

from __future__ import annotations

import signal
import sys

from . import _ptekit


def main() -> int:
    """Runs the command with the arguments of this process.

    Returns:
        The exit status: 0, 1 (a problem in a file), 2 (usage) or 3 (not readable or not writable).
    """
    # Python only notes an interrupt until its code runs again. The command ends at once, and removes its
    # temporary files. A signal that is ignored from the start stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _ptekit.run_command(["pte", *sys.argv[1:]])
