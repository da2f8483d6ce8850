"""--python-calls: the source lines whose .item(), .cpu()... made the program wait for the GPU."""
import functools
import os
import sys

from .recording import RANGE_CALL_SITE, now

_SLOW_NS = 100_000
_TENSOR = ("item", "tolist", "numpy", "cpu", "cuda", "to", "__bool__", "__int__", "__float__", "__index__")
_FRAMES = 50  # looked at for the program's own line
_START = os.getcwd() + os.sep


def hook(torch, recording):
    _torch_folder = os.path.dirname(torch.__file__) + os.sep
    folders = (_torch_folder, os.path.dirname(os.path.abspath(__file__)) + os.sep)
    for name in _TENSOR:
        _wrap(torch.Tensor, name, f".{name}()" if name[0] != "_" else f"{name.strip('_')}(tensor)", recording, folders)
    _wrap(torch.cuda, "synchronize", "torch.cuda.synchronize()", recording, folders)
    for cls in (torch.cuda.Stream, torch.cuda.Event):
        _wrap(cls, "synchronize", ".synchronize()", recording, folders)


def _wrap(owner, name, text, recording, folders):
    original = getattr(owner, name, None)
    if original is None or hasattr(original, "fullwarp"):
        return
    is_compiling = recording.is_compiling

    @functools.wraps(original)
    def call(*args, **kwargs):
        if is_compiling() or recording.off:
            return original(*args, **kwargs)
        start = now()
        result = original(*args, **kwargs)
        end = now()
        if end - start >= _SLOW_NS:
            try:
                _note(recording, args, result, start, end, text, folders)
            except Exception:
                pass
        return result

    call.fullwarp = True
    setattr(owner, name, call)


def _note(recording, args, result, start, end, text, folders):
    """What neither comes from nor goes to the GPU is not kept."""
    source = args[0] if args else None
    if hasattr(source, "is_cuda") and not source.is_cuda and not getattr(result, "is_cuda", False):
        return
    frame = sys._getframe(2)
    inner = frame
    for _ in range(_FRAMES):
        if frame is None or not frame.f_code.co_filename.startswith(folders):
            break
        frame = frame.f_back
    frame = frame or inner
    name = frame.f_code.co_filename
    if name.startswith(_START):
        name = name[len(_START):]
    recording.mark(RANGE_CALL_SITE, start, end, f"{name}:{frame.f_lineno} {text}")
