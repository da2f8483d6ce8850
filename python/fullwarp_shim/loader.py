"""torch.utils.data.DataLoader: the time inside its __next__ and __iter__, and its settings."""
import functools
import weakref
import _thread

from . import steps
from .recording import RANGE_INPUT, now


class _Inside(_thread._local):
    """A data set may read another loader: only the outermost wait counts."""
    loader = False


def _whole(value):
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else -1


def _settings(loader):
    batch = getattr(loader, "batch_size", None)
    if batch is None:
        batch = getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
    workers = getattr(loader, "num_workers", None)
    prefetch = getattr(loader, "prefetch_factor", None) if workers else None
    return (_whole(workers), _whole(prefetch), _whole(batch), int(bool(getattr(loader, "pin_memory", False))),
            int(bool(getattr(loader, "persistent_workers", False))))


def _note(recording, loader):
    """The settings of a loader stand in the file once."""
    if loader not in recording.loaders:
        recording.loaders[loader] = True
        recording.loader(recording.next_loader, _settings(loader))
        recording.next_loader += 1


def hook(module, recording):
    inside = _Inside()
    cuts = steps.of(recording)
    recording.loaders = weakref.WeakKeyDictionary()
    recording.on_fork.append(lambda: recording.loaders.clear())
    iterator, loader = module._BaseDataLoaderIter, module.DataLoader
    if not hasattr(iterator.__next__, "fullwarp"):
        iterator.__next__ = _next(iterator.__next__, recording, inside, cuts)
    if not hasattr(loader.__iter__, "fullwarp"):
        loader.__iter__ = _iter(loader.__iter__, recording, inside, cuts)


def _tell(call, *args):
    try:
        call(*args)
    except Exception:
        pass


def _next(original, recording, inside, cuts):
    is_compiling = recording.is_compiling

    @functools.wraps(original)
    def __next__(self):
        if is_compiling() or recording.off or inside.loader:
            return original(self)
        inside.loader = True
        start = now()
        _tell(cuts.batch, self, start)
        try:
            return original(self)
        except StopIteration:
            _tell(cuts.exhausted, self)
            raise
        finally:
            inside.loader = False
            recording.mark(RANGE_INPUT, start, now(), f"enumerate(DataLoader)#{type(self).__name__}.__next__")

    __next__.fullwarp = True
    return __next__


def _iter(original, recording, inside, cuts):
    is_compiling = recording.is_compiling

    @functools.wraps(original)
    def __iter__(self):
        if is_compiling() or recording.off or inside.loader:
            return original(self)
        inside.loader = True
        start = now()
        _tell(_note, recording, self)
        _tell(cuts.loop, start)
        try:
            return original(self)
        finally:
            inside.loader = False
            recording.mark(RANGE_INPUT, start, now(), "DataLoader.__iter__")

    __iter__.fullwarp = True
    return __iter__
