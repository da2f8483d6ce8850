"""Tells when the program imports torch and its parts, without importing them itself."""
import sys

# Module -> the module of ours whose hook(module, recording) is called once it is there.
WATCHED = {
    "torch": "torch_itself",
    "torch.utils.data.dataloader": "loader",
    "torch.optim.optimizer": "optimizer",
    "torch.autograd.profiler": "profiler",
    "torch._dynamo.eval_frame": "compiling",
    "torch._dynamo.convert_frame": "compiling",
    "torch._dynamo.callback": "compiling",
}


class Finder:
    """First on sys.meta_path: lets the others find a watched module and hears when it has been executed."""

    def __init__(self, folder, options):
        self.folder = folder
        self.options = options
        self.recording = None
        self.early = []  # parts of torch that were there before torch itself was
        self.asking = set()

    def find_spec(self, name, path=None, target=None):
        if name not in WATCHED or name in self.asking:
            return None
        self.asking.add(name)
        try:
            return self._listen(name, path, target)
        except Exception:
            return None  # the others are asked again, and raise it themselves
        finally:
            self.asking.discard(name)

    def _listen(self, name, path, target):
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                self._follow(name, spec.loader)
                return spec
        return None

    def _follow(self, name, loader):
        """The loader stays what it is; only its next call for this module passes through here."""
        execute = loader.exec_module

        def exec_module(module):
            if getattr(module, "__name__", None) != name:
                return execute(module)
            try:
                del loader.exec_module
            except Exception:
                pass
            result = execute(module)
            self.imported(name, module)
            return result

        loader.exec_module = exec_module

    def imported(self, name, module):
        try:
            if name == "torch":
                self._begin(module)
            elif self.recording is None:
                self.early.append((name, module))
            else:
                self._hook(name, module)
        except Exception:
            pass

    def _begin(self, module):
        from . import recording
        self.recording = recording.Recording(self.folder, self.options)
        self._hook("torch", module)
        early, self.early = self.early, []
        for name, part in early:
            self._hook(name, part)

    def _hook(self, name, module):
        try:
            ours = __import__("fullwarp_shim." + WATCHED[name], fromlist=["hook"])
            ours.hook(module, self.recording)
        except Exception as error:
            self.recording.cannot(f"{name} of this PyTorch could not be watched: {type(error).__name__}: {error}")


def watch(folder, options):
    finder = Finder(folder, options)
    sys.meta_path.insert(0, finder)
    # A sitecustomize of the program may have imported it already.
    for name in [n for n in WATCHED if n in sys.modules and n != "torch"]:
        finder.imported(name, sys.modules[name])
    if "torch" in sys.modules:
        finder.imported("torch", sys.modules["torch"])
