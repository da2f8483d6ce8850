"""Found by every Python that inherits `fullwarp record`'s PYTHONPATH: runs the sitecustomize that would have run without
us, then starts the shim. Must stay valid for Python 2.7, since a recorded program may start one."""
import os
import sys

_folder = os.path.dirname(__file__)


def _leave_path():
    """Takes our folder out of sys.path and returns what stood behind it. os.environ keeps it, for the children."""
    if _folder not in sys.path:
        return list(sys.path)
    at = sys.path.index(_folder)
    del sys.path[at]
    return sys.path[at:]


def _run_next(behind):
    """Imports the next sitecustomize as if ours were not there; its errors, or its absence, are its own."""
    sys.modules.pop(__name__, None)
    if sys.version_info < (3, 5):
        import imp
        imp.load_module(__name__, *imp.find_module("sitecustomize", behind))
    else:
        from _frozen_importlib import module_from_spec
        from _frozen_importlib_external import PathFinder
        spec = PathFinder.find_spec("sitecustomize", behind)
        if spec is None:
            raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
        module = sys.modules[__name__] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(__name__, None)
            raise


_itself = sys.modules.get(__name__)  # Python 2 empties a module that nobody holds
_shim = None
if sys.version_info >= (3, 7) and os.environ.get("FULLWARP_RECORD_DIR"):
    try:
        import fullwarp_shim as _shim
    except Exception:
        pass
try:
    _run_next(_leave_path())
finally:
    if _shim is not None:
        _shim.start()
