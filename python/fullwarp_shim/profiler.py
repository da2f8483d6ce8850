"""The program's own torch.profiler: only one tool can read CUDA's activity records, so ours steps aside for it, over the
two words of src/trace/recording_control.h."""
import functools
import glob
import os
import struct
import time

from .recording import now

_WAIT_NS = 1_000_000_000
_POLL_S = 0.001


class Yield:
    """`asked` is ours to write, `granted` the injected library's."""

    def __init__(self, folder):
        self.folder = folder

    def path(self):
        return os.path.join(self.folder, f"yield-{os.getpid()}")

    def make(self):
        """Two zeros, for the library to find."""
        fd = os.open(self.path(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.pwrite(fd, bytes(8), 0)
        finally:
            os.close(fd)

    def ask(self, asked):
        """Waits for the library where it records in this process."""
        if not os.path.exists(self.path()):
            self.make()
        fd = os.open(self.path(), os.O_RDWR | os.O_CLOEXEC)
        try:
            os.pwrite(fd, struct.pack("<I", asked), 0)
            if asked and self._is_recorded():
                deadline = now() + _WAIT_NS
                while os.pread(fd, 4, 4) != b"\1\0\0\0" and now() < deadline:
                    time.sleep(_POLL_S)
        finally:
            os.close(fd)

    def _is_recorded(self):
        return bool(glob.glob(os.path.join(glob.escape(self.folder), f"process-{os.getpid()}-*.fwr")))


def _wants_cuda(args):
    """(config, activities): profilers of the CPU, and emit_nvtx, leave the GPU's records alone."""
    if len(args) < 2:
        return True
    return any(getattr(activity, "name", "CUDA") == "CUDA" for activity in args[1])


def hook(module, recording):
    turn = Yield(recording.folder)
    if not hasattr(module._enable_profiler, "fullwarp"):
        turn.make()
        for name in ("_prepare_profiler", "_enable_profiler"):
            setattr(module, name, _begin(getattr(module, name), turn))
        module._disable_profiler = _end(module._disable_profiler, turn)


def _ask(turn, asked):
    try:
        turn.ask(asked)
    except Exception:
        pass


def _begin(original, turn):
    @functools.wraps(original)
    def begin(*args, **kwargs):
        try:
            wants = _wants_cuda(args)
        except Exception:
            wants = True
        if not wants:
            return original(*args, **kwargs)
        _ask(turn, 1)
        try:
            return original(*args, **kwargs)
        except BaseException:
            _ask(turn, 0)
            raise

    begin.fullwarp = True
    return begin


def _end(original, turn):
    @functools.wraps(original)
    def end(*args, **kwargs):
        try:
            return original(*args, **kwargs)
        finally:
            _ask(turn, 0)

    return end
