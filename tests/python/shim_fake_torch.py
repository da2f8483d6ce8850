"""Stand-ins with the module layout of several PyTorch 2.x, so that what is not installed here is watched too: compilation,
profilers that read the GPU, tensors on a GPU. No PyTorch is needed."""
import os
import pathlib
import struct
import threading
import time

import shim

INIT = """
import time
__version__ = '{version}'
class Tensor:
    is_cuda = True
    device = 'cuda'
    def __init__(self, is_cuda=True, wait=0.0): self.is_cuda, self.wait = is_cuda, wait
    def item(self): time.sleep(self.wait); return 1
    def tolist(self): time.sleep(self.wait); return [1]
    def cpu(self): time.sleep(self.wait); return Tensor(False)
    def to(self, where): time.sleep(self.wait); return Tensor(where == 'cuda')
    def __bool__(self): time.sleep(self.wait); return True
    def __float__(self): time.sleep(self.wait); return 1.0
class compiler:
    compiling = False
    @staticmethod
    def is_compiling(): return compiler.compiling
from . import cuda
from .autograd import profiler
from .optim import optimizer
from .utils.data import dataloader
"""
LOADER = """
class _BaseDataLoaderIter:
    def __init__(self, loader): self.left = iter(loader.data)
    def __iter__(self): return self
    def __next__(self): return next(self.left)
class DataLoader:
    def __init__(self, data): self.data = data
    def __iter__(self): return _BaseDataLoaderIter(self)
"""
OPTIMIZER = """
class Optimizer:
    def __init__(self): self.{hook}()
    def {hook}(self): pass
class SGD(Optimizer):
    def step(self, closure=None): return 'stepped'
"""
PROFILER = """
import collections, os
said = []
def _look(): said.append(open(os.path.join(os.environ['FULLWARP_RECORD_DIR'], 'yield-%d' % os.getpid()), 'rb').read())
def _prepare_profiler(config, activities): _look()
def _enable_profiler(config, activities):
    if config == 'broken': raise RuntimeError('no')
    _look()
def _disable_profiler(): _look(); return 'results'
Activity = collections.namedtuple('Activity', 'name')
def run(config, activities):
    _prepare_profiler(config, activities); _enable_profiler(config, activities)
    result = _disable_profiler(); _look(); return result
"""
FRAMES = """
import time
def _compile(code, inner=None):
    time.sleep(0.020)
    if inner: inner()
    return code
def convert(function, inner=None): return _compile(function.__code__, inner)
"""
CALLBACK_OLD = """
class CompilationCallbackHandler:
    def run_start_callbacks(self): pass
    def run_end_callbacks(self): pass
callback_handler = CompilationCallbackHandler()
def install(name):
    callback_handler.run_start_callbacks(); yield; callback_handler.run_end_callbacks()
"""
CALLBACK_NEW = """
import collections, enum
class CallbackTrigger(enum.Enum): DYNAMO = 1; LAZY_BACKWARD = 2
class CompilationCallbackHandler:
    def run_start_callbacks(self, args): pass
    def run_end_callbacks(self, args): pass
callback_handler = CompilationCallbackHandler()
Args = collections.namedtuple('CallbackArgs', 'callback_trigger compile_id')
def install(name):
    args = Args(CallbackTrigger[name], '0/0')
    callback_handler.run_start_callbacks(args); yield; callback_handler.run_end_callbacks(args)
"""
CUDA = """
import time
def synchronize(device=None): time.sleep(0.005)
class Stream:
    def synchronize(self): time.sleep(0.005)
class Event(Stream): pass
"""


def write_torch(case, version="2.11.0", callback=CALLBACK_NEW, hook="_patch_step_function"):
    """A package torch beside the program of a test."""
    parts = {"torch/__init__": INIT.replace("{version}", version), "torch/utils/__init__": "",
             "torch/utils/data/__init__": "", "torch/utils/data/dataloader": LOADER, "torch/optim/__init__": "",
             "torch/optim/optimizer": OPTIMIZER.format(hook=hook), "torch/autograd/__init__": "",
             "torch/autograd/profiler": PROFILER, "torch/cuda": CUDA, "torch/_dynamo/__init__": "",
             "torch/_dynamo/convert_frame": FRAMES}
    if callback:
        parts["torch/_dynamo/callback"] = callback
    for name, text in parts.items():
        case.write(name + ".py", text)


class FakeTorch(shim.ShimCase):
    def torch(self, **how):
        write_torch(self, **how)

    def program(self, text, **how):
        run = self.run_shim([self.write("program.py", text)], **how)
        self.assertEqual((run.stderr, run.status), ("", 0), how)
        return run

    def test_every_python_and_both_optimizer_hooks(self):
        text = """
import sys
assert 'torch' not in sys.modules
import torch
before = [torch.utils.data.dataloader.__loader__, torch.utils.data.dataloader.__spec__.loader]
print([type(l).__name__ for l in before], [sorted(vars(l)) for l in before])
for x in torch.utils.data.dataloader.DataLoader([1, 2]): print(torch.optim.optimizer.SGD().step())
import importlib
importlib.reload(torch.optim.optimizer)
print(torch.optim.optimizer.SGD().step())
import threading
def work():
    for x in torch.utils.data.dataloader.DataLoader([1]): pass
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
        for python in shim.interpreters((3, 7)):
            for hook in ("_patch_step_function", "_hook_for_profile"):
                self.torch(hook=hook)
                run = self.program(text, python=python)
                plain = self.run_plain([os.path.join(self.scratch, "program.py")], python=python)
                self.assert_same(run, plain, python)
                file = run.files[-1]
                self.assertEqual((len(file.waits()), len(file.marks(shim.OPTIMIZER)), file.facts("cannot")), (5, 3, []))
                self.assertEqual([r.tid == file.pid for r in file.waits()], [True] * 3 + [False] * 2, python)
                for name in os.listdir(self.folder):
                    os.unlink(os.path.join(self.folder, name))

    def test_compilations(self):
        text = """
import time, torch
def f(): pass
import torch._dynamo.convert_frame as frames
CALLBACKS
frames.convert(f)
frames.convert(f, inner)
later()
"""
        with_callbacks = """
import torch._dynamo.callback as callback
def inner():
    for _ in callback.install('DYNAMO'): pass
def later():
    for _ in callback.install('LAZY_BACKWARD'): time.sleep(0.010)
"""
        for number, callback in enumerate((CALLBACK_NEW, CALLBACK_OLD, None)):
            self.torch(callback=callback)
            used = with_callbacks if callback else "def inner(): frames.convert(f)\ndef later(): pass\n"
            file = self.program(text.replace("CALLBACKS", used)).files[-1]
            marks = file.marks(shim.COMPILE)
            later = [["torch.compile lazy backward"], ["torch.compile"], []][number]
            self.assertEqual([m.name for m in marks], ["torch.compile f (program.py:3)"] * 2 + later)
            least = [20_000_000, 20_000_000 if callback else 40_000_000, 10_000_000]
            for mark, ns in zip(marks, least):
                self.assertGreaterEqual(mark.end - mark.start, ns)
            for name in os.listdir(self.folder):
                os.unlink(os.path.join(self.folder, name))

    def test_an_error_while_compiling_comes_through(self):
        self.torch()
        file = self.program("""
import torch, torch._dynamo.convert_frame as frames
def f(): pass
def inner(): raise KeyError('x')
try: frames.convert(f, inner)
except KeyError as error: print(error)
frames.convert(f)
""").file
        self.assertEqual(len(file.marks(shim.COMPILE)), 2)

    def test_traced_calls_are_left_alone(self):
        self.torch()
        file = self.program("""
import torch
torch.compiler.compiling = True
for x in torch.utils.data.dataloader.DataLoader([1, 2]): torch.optim.optimizer.SGD().step()
torch.Tensor(True, 0.01).item()
""", options="python_calls=1").file
        self.assertEqual(file.ranges, [])

    def test_yields_to_a_profiler_of_the_gpu(self):
        self.torch()
        run = self.program("""
import torch
from torch.autograd import profiler as p
print(p.run('kineto', {p.Activity('CPU'), p.Activity('CUDA')}))
print(p.run('kineto', {p.Activity('CPU')}), p.run('nvtx', set()))
try: p.run('broken', {p.Activity('CUDA')})
except RuntimeError as error: print(error)
p._look()
print([said.hex() for said in p.said])
""")
        asked, rest = "0100000000000000", "0000000000000000"
        # prepare, enable, disable, after; twice without the GPU; prepare, and after the error.
        said = [asked] * 3 + [rest] + [rest] * 8 + [asked] + [rest]
        self.assertEqual(run.stdout, f"results\nresults results\nno\n{said}\n")

    def test_waits_for_the_library_where_it_records(self):
        self.torch()
        text = """
import os, sys, time, torch
if len(sys.argv) > 1: open(os.path.join(os.environ['FULLWARP_RECORD_DIR'], 'process-%d-0.fwr' % os.getpid()), 'w')
from torch.autograd import profiler as p
print('on', flush=True)
start = time.monotonic()
p._prepare_profiler('kineto', {p.Activity('CUDA')})
print(time.monotonic() - start)
"""
        name = self.write("program.py", text)
        self.assertLess(float(self.run_shim([name]).stdout.split()[1]), 0.5)
        self.assertGreaterEqual(float(self.run_shim([name, "library"]).stdout.split()[1]), 1.0)
        process = self.start([name, "library"])

        def grant():
            path = os.path.join(self.folder, f"yield-{process.pid}")
            while not os.path.exists(path) or pathlib.Path(path).read_bytes()[:1] != b"\1":
                time.sleep(0.001)
            time.sleep(0.1)
            with open(path, "r+b") as file:
                file.seek(4)
                file.write(struct.pack("<I", 1))

        thread = threading.Thread(target=grant)
        thread.start()
        out, err = process.communicate(timeout=60)
        thread.join()
        self.assertEqual(err, "")
        self.assertTrue(0.1 <= float(out.split()[1]) < 0.9, out)

    def test_call_sites_that_wait(self):
        self.torch()
        self.write("torch/helper.py", "def norm(x): return x.item()\n")
        text = """import torch, torch.helper, time
slow, quick, host = torch.Tensor(True, 0.002), torch.Tensor(True), torch.Tensor(False, 0.002)
slow.item()
if slow: pass
slow.cpu(); slow.to('cpu'); host.to('cuda')
torch.cuda.synchronize()
torch.cuda.Event().synchronize()
torch.helper.norm(slow)
[float(slow) for _ in range(2)]
host.item(); host.to('cpu')
for _ in range(1000): quick.item()
"""
        file = self.program(text, options="graphs=node;python_calls=1").file
        program = os.path.join(self.scratch, "program.py")
        sites = [r.name.replace(program, "program.py") for r in file.marks(shim.CALL_SITE)]
        quick = [site for site in sites if site.startswith("program.py:11 ")]
        self.assertLess(len(quick), 100)  # those in which this process was not run for a while
        self.assertEqual(sites[:len(sites) - len(quick)],
                         ["program.py:3 .item()", "program.py:4 bool(tensor)", "program.py:5 .cpu()", "program.py:5 .to()",
                          "program.py:5 .to()", "program.py:6 torch.cuda.synchronize()", "program.py:7 .synchronize()",
                          "program.py:8 .item()", "program.py:9 float(tensor)", "program.py:9 float(tensor)"])
        for mark in file.marks(shim.CALL_SITE)[:len(sites) - len(quick)]:
            self.assertGreaterEqual(mark.end - mark.start, 2_000_000)

    def test_without_the_option_tensors_are_left_alone(self):
        self.torch()
        text = "import torch\nprint(torch.Tensor.item.__code__.co_filename, hasattr(torch.cuda.synchronize, 'fullwarp'))\n"
        self.assertIn("torch/__init__.py False", self.program(text).stdout)

    def test_a_torch_of_another_shape(self):
        self.torch()
        self.write("torch/optim/optimizer.py", "class SGD: pass\n")
        self.write("torch/_dynamo/convert_frame.py", "def compile(): pass\n")
        file = self.program("import torch, torch._dynamo.convert_frame\n"
                            "for x in torch.utils.data.dataloader.DataLoader([1]): pass\n").file
        self.assertEqual([text.partition(":")[0] for text, _ in file.facts("cannot")],
                         ["torch.optim.optimizer of this PyTorch could not be watched",
                          "torch._dynamo.convert_frame of this PyTorch could not be watched"])
        self.assertEqual(len(file.waits()), 2)

    def test_a_torch_that_cannot_be_imported(self):
        self.write("torch/__init__.py", "import torch.optim.optimizer\nraise ImportError('libcudart.so.13')\n")
        self.write("torch/optim/__init__.py", "")
        self.write("torch/optim/optimizer.py", "class Optimizer: pass\n")
        name = self.write("program.py", "try: import torch\nexcept ImportError as error: print(error)\n"
                          "try: import torch.no\nexcept ImportError as error: print(error)\n")
        self.assert_same(self.run_shim([name]), self.run_plain([name]))


if __name__ == "__main__":
    shim.main(needs_torch=False)
