"""torch.optim: the time inside an optimizer's step()."""
import functools
import _thread

from . import steps
from .recording import RANGE_OPTIMIZER, now


class _Inside(_thread._local):
    """step() of a subclass may call that of its base: only the outermost one counts."""
    step = False


def hook(module, recording):
    inside = _Inside()
    cuts = steps.of(recording)
    optimizer = module.Optimizer
    # PyTorch wraps the step of each class when the first optimizer of it is made; ours goes around that.
    name = "_patch_step_function" if hasattr(optimizer, "_patch_step_function") else "_hook_for_profile"
    original = getattr(optimizer, name)
    if hasattr(original, "fullwarp"):
        return

    @functools.wraps(original)
    def patch(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        try:
            cls = type(self)
            if not hasattr(cls.step, "fullwarp"):
                cls.step = _step(cls.step, recording, inside, cuts)
        except Exception:
            pass
        return result

    patch.fullwarp = True
    setattr(optimizer, name, patch)


def _step(original, recording, inside, cuts):
    is_compiling = recording.is_compiling

    @functools.wraps(original)
    def step(self, *args, **kwargs):
        if is_compiling() or recording.off or inside.step:
            return original(self, *args, **kwargs)
        inside.step = True
        start = now()
        try:
            return original(self, *args, **kwargs)
        finally:
            inside.step = False
            end = now()
            recording.mark(RANGE_OPTIMIZER, start, end, f"Optimizer.step#{type(self).__name__}.step")
            try:
                cuts.optimizer_stepped(self, end)
            except Exception:
                pass

    # As it was: torch._dynamo 2.0 takes PyTorch's own wrapper off by this.
    step.__wrapped__ = getattr(original, "__wrapped__", original)
    step.fullwarp = True
    return step
