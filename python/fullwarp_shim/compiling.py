"""torch.compile: the time that compiling takes, of frames (torch._dynamo.convert_frame) and of what is compiled later: the
backward pass, CUDA graphs (torch._dynamo.callback)."""
import functools
import os
import sys
import _thread

from .recording import RANGE_COMPILE, now


class _Inside(_thread._local):
    depth = 0
    start = 0


_inside = _Inside()


def _enter():
    _inside.depth += 1
    if _inside.depth == 1:
        _inside.start = now()


def _leave(recording, name):
    _inside.depth -= 1
    if _inside.depth == 0:
        recording.mark(RANGE_COMPILE, _inside.start, now(), name)


def hook(module, recording):
    if module.__name__.endswith("eval_frame"):
        _leave_untraced(module.skip_code)
    elif module.__name__.endswith("callback"):
        _hook_callbacks(module.CompilationCallbackHandler, recording)
    else:
        _hook_frames(module, recording)


def _leave_untraced(skip_code):
    """Where a graph breaks at a call of ours, our frames are run, not compiled; what they call is compiled as ever."""
    for name, module in list(sys.modules.items()):
        if name.startswith(__package__ + "."):
            for thing in list(vars(module).values()):
                for function in [thing, *vars(thing).values()] if isinstance(thing, type) else [thing]:
                    if getattr(function, "__module__", None) == name and hasattr(function, "__code__"):
                        _skip(function.__code__, skip_code)


def _skip(code, skip_code):
    skip_code(code)
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            _skip(constant, skip_code)


def _hook_frames(module, recording):
    original = module._compile
    if hasattr(original, "fullwarp"):
        return

    @functools.wraps(original)
    def _compile(*args, **kwargs):
        if recording.off:
            return original(*args, **kwargs)
        _enter()
        try:
            return original(*args, **kwargs)
        finally:
            _leave(recording, _frame_name(args[0] if args else kwargs.get("code")))

    _compile.fullwarp = True
    module._compile = _compile


def _frame_name(code):
    name = getattr(code, "co_name", None)
    if name is None:
        return "torch.compile"
    return f"torch.compile {name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def _hook_callbacks(handler, recording):
    """The class is changed rather than a callback registered: torch._dynamo.reset() forgets those."""
    if hasattr(handler.run_start_callbacks, "fullwarp"):
        return
    run_start, run_end = handler.run_start_callbacks, handler.run_end_callbacks

    @functools.wraps(run_start)
    def run_start_callbacks(self, *args, **kwargs):
        _enter()
        return run_start(self, *args, **kwargs)

    @functools.wraps(run_end)
    def run_end_callbacks(self, *args, **kwargs):
        try:
            return run_end(self, *args, **kwargs)
        finally:
            _leave(recording, _trigger_name(args))

    run_start_callbacks.fullwarp = True
    handler.run_start_callbacks = run_start_callbacks
    handler.run_end_callbacks = run_end_callbacks


def _trigger_name(args):
    trigger = getattr(getattr(args[0], "callback_trigger", None), "name", None) if args else None
    return f"torch.compile {trigger.lower().replace('_', ' ')}" if trigger else "torch.compile"
