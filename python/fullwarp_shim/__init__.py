"""What `fullwarp record` puts into Python programs: marks of loader waits, steps, optimizers and compilations, written to
python-<pid>-<n>.fwr in the recording's folder (docs/python-shim.md). It does nothing until the program imports torch,
prints nothing, and no error of it reaches the program."""
import os

_started = False


def start():
    """Called once, when the interpreter starts."""
    global _started
    if _started:
        return
    _started = True
    try:
        from . import imports
        imports.watch(os.environ["FULLWARP_RECORD_DIR"], os.environ.get("FULLWARP_RECORD_OPTIONS", ""))
    except Exception:
        pass
