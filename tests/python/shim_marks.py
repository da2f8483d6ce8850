"""Programs with real PyTorch on the CPU: what the shim marks is what they did, and they do what they do without it."""
import os
import re

import shim

# Every item takes 10 ms, a batch of 4 at least 40 ms in the process that loads it.
SLOW = """
import os, sys, time, torch
class Slow(torch.utils.data.Dataset):
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i):
        time.sleep(0.010)
        return torch.full((4,), float(i)), float(i)
def loader(n, **how): return torch.utils.data.DataLoader(Slow(n), batch_size=4, **how)
"""
TRAIN = SLOW + """
def train(epochs=2, **how):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(epochs):
        for x, y in loader(12, **how):
            optimizer.zero_grad()
            loss = (model(x).squeeze(1) - y.float()).pow(2).mean()
            loss.backward()
            optimizer.step()
    print('%.6f' % loss.item())
"""
# Two epochs of three batches, without workers.
PLAIN = TRAIN + "train()\n"


class Marks(shim.ShimCase):
    """What needs no process of its own shares the import of PyTorch, which takes a second."""

    @classmethod
    def setUpClass(cls):
        cls.forking, cls.plain = shim.Forking(cls.python, True), shim.Forking(cls.python, False)

    @classmethod
    def tearDownClass(cls):
        cls.forking.close()
        cls.plain.close()

    def program(self, text, *arguments, **how):
        name = self.write("train.py", text)
        run = self.run_shim([name, *arguments], **how)
        self.assertEqual((run.stderr, run.status), ("", 0))
        return run

    def forked(self, text):
        run = self.forking.run(self.write("train.py", text))
        self.assertEqual((run.stderr, run.status), ("", 0))
        return run

    def test_waits_of_a_slow_data_set_without_workers(self):
        run = self.program(PLAIN)
        file = run.file
        waits = file.waits()
        # 2 epochs of 3 batches, each epoch with one further wait that finds nothing.
        self.assertEqual(len(waits), 8)
        batches = [w for i, w in enumerate(waits) if i % 4 != 3]
        for wait in batches:
            self.assertGreaterEqual(wait.end - wait.start, 40_000_000)  # 4 items of 10 ms
            self.assertEqual((wait.tid, wait.name), (file.pid, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"))
        for wait in waits[3::4]:
            self.assertLess(wait.end - wait.start, 40_000_000)
        for before, after in zip(waits, waits[1:]):
            self.assertLessEqual(before.end, after.start)
        self.assertEqual(len(file.marks(shim.OPTIMIZER)), 6)
        self.assertEqual({r.name for r in file.marks(shim.OPTIMIZER)}, {"Optimizer.step#Adam.step"})
        self.assertEqual([(l.number, l.workers, l.prefetch, l.batch, l.pin_memory, l.persistent) for l in file.loaders],
                         [(0, 0, -1, 4, 0, 0), (1, 0, -1, 4, 0, 0)])
        self.assertEqual(len(file.facts("torch")), 1)
        self.assertEqual(file.records[-1].get("key"), "ended")
        self.assertEqual((file.losses, file.facts("cannot"), file.torn), ([], [], 0))

    def test_steps_go_from_optimizer_to_optimizer(self):
        file = self.forked(PLAIN).file
        steps, ends = file.marks(shim.STEP), [r.end for r in file.marks(shim.OPTIMIZER)]
        self.assertEqual([s.name for s in steps], [f"step {i}" for i in range(6)])
        self.assertEqual([s.end for s in steps], ends)
        starts = [r.start for r in file.ranges if r.name == "DataLoader.__iter__"]
        # The first step of an epoch begins with its loader, the others with the end of the one before.
        self.assertEqual([s.start for s in steps], [starts[0], ends[0], ends[1], starts[1], ends[3], ends[4]])

    def test_workers_by_fork_and_by_spawn(self):
        run = self.program(TRAIN + """
if __name__ == '__main__':
    for context in ('fork', 'spawn'):
        train(2 if context == 'fork' else 1, num_workers=1, persistent_workers=True, prefetch_factor=3,
              multiprocessing_context=context)
""")
        file = run.file  # the workers leave none
        self.assertEqual(len(file.waits()), 12)
        self.assertEqual(len(file.marks(shim.OPTIMIZER)), 9)
        self.assertEqual({w.name for w in file.waits()},
                         {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"})
        self.assertEqual([l[2:] for l in file.loaders], [(1, 3, 4, 0, 1)] * 3)

    def test_output_and_status_are_the_same(self):
        name = self.write("train.py", TRAIN + """
if __name__ == '__main__':
    train()
    train(num_workers=2)
    train(1, num_workers=1, multiprocessing_context='spawn')
    it = iter(loader(4))
    next(it)
    print('one')
    next(it, None)
    sys.exit(9)
""")
        run = self.run_shim([name])
        self.assert_same(run, self.run_plain([name]))
        self.assertEqual((len(run.stdout.splitlines()), run.status), (4, 9))

    def test_an_error_of_the_data_set_comes_through(self):
        name = self.write("bad.py", SLOW.replace("time.sleep(0.010)", "raise ValueError('item %d' % i)") +
                          "for batch in loader(8, num_workers=int(sys.argv[1])): pass\n")
        for workers in ("0", "1"):
            run, plain = self.forking.run(name, workers), self.plain.run(name, workers)
            self.assertEqual((run.stdout, run.status), (plain.stdout, plain.status))
            self.assertEqual(run.stderr.splitlines()[-1], plain.stderr.splitlines()[-1])
            # One frame more, ours, stands in the traceback.
            kept = [line for line in run.stderr.splitlines() if not re.search(r"fullwarp_shim|return original\(self\)|\^\^\^", line)]
            self.assertEqual(kept, [line for line in plain.stderr.splitlines() if "^^^" not in line])

    def test_inference_is_cut_at_batches(self):
        file = self.forked(SLOW + """
with torch.no_grad():
    for x, y in loader(12): time.sleep(0.020)
""").file
        steps, waits = file.marks(shim.STEP), file.waits()
        self.assertEqual([s.end for s in steps], [w.start for w in waits[1:]])
        for step in steps:
            self.assertGreaterEqual(step.end - step.start, 60_000_000)  # 4 x 10 ms of loading, 20 ms of work

    def test_validation_inside_training_has_steps_of_its_own(self):
        file = self.forked(SLOW + """
p = torch.nn.Parameter(torch.zeros(1)); p.grad = torch.zeros(1)
optimizer = torch.optim.SGD([p], 0.1)
for i, batch in enumerate(loader(16)):
    if i == 2:
        for batch in loader(16): pass
    optimizer.step()
""").file
        optimizer = [r.end for r in file.marks(shim.OPTIMIZER)]
        steps = file.marks(shim.STEP)
        waits = file.waits()[3:8]  # of the loader inside
        # Training cuts twice; the loader inside takes over with its second batch and gives 3 whole steps; the loader
        # outside leads again with its fourth batch.
        self.assertEqual([s.end for s in steps], optimizer[:2] + [w.start for w in waits[2:]] + optimizer[3:])
        self.assertEqual(sum(s.end - s.start for s in steps if s.start < waits[0].start < s.end), 0)

    def test_two_loaders_in_step_and_two_optimizers(self):
        file = self.forked(SLOW + """
ps = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
for p in ps: p.grad = torch.zeros(1)
first, second = (torch.optim.SGD([p], 0.1) for p in ps)
for a, b in zip(loader(12), loader(12)):
    second.step(); first.step()
""").file
        self.assertEqual(len(file.waits()), 7)  # zip stops when its first has no more
        self.assertEqual(len(file.marks(shim.OPTIMIZER)), 6)
        self.assertEqual(len(file.marks(shim.STEP)), 3)  # cut by the optimizer that stepped first

    def test_a_loader_inside_a_data_set_is_waited_for_once(self):
        file = self.forked(SLOW + """
class Outer(torch.utils.data.Dataset):
    def __len__(self): return 3
    def __getitem__(self, i): return next(iter(loader(4)))[0]
for x in torch.utils.data.DataLoader(Outer(), batch_size=None): pass
""").file
        self.assertEqual(len(file.waits()), 4)
        self.assertEqual([l.batch for l in file.loaders], [-1])

    def test_step_of_a_subclass_counts_once(self):
        file = self.forked(SLOW + """
class Mine(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)
p = torch.nn.Parameter(torch.ones(1)); p.grad = torch.ones(1)
for cls in (torch.optim.SGD, Mine):
    optimizer = cls([p], 0.25)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for _ in range(5): optimizer.step(); scheduler.step()
print(p.item())
import copy, pickle
pickle.dumps(copy.deepcopy(torch.optim.SGD([p], 0.25)))
""").file
        self.assertEqual([r.name for r in file.marks(shim.OPTIMIZER)],
                         ["Optimizer.step#SGD.step"] * 5 + ["Optimizer.step#Mine.step"] * 5)

    def test_children_have_files_of_their_own(self):
        run = self.program(SLOW + """
import multiprocessing, subprocess
def work(n):
    for batch in loader(4): pass
if __name__ == '__main__':
    for batch in loader(4): pass
    children = [multiprocessing.get_context(c).Process(target=work, args=(1,)) for c in ('fork', 'spawn')]
    for child in children: child.start()
    for child in children: child.join()
    pid = os.fork()
    if pid == 0:
        for batch in loader(32): pass
        os._exit(0)
    os.waitpid(pid, 0)
    subprocess.check_call([sys.executable, '-c', 'import torch'])
""", RANK="3", WORLD_SIZE="8")
        self.assertEqual([n for n in sorted(len(f.waits()) for f in run.files) if n <= 2], [0, 2, 2, 2])
        self.assertEqual(len({f.pid for f in run.files}), 5)
        for file in run.files:
            self.assertEqual((file.facts("rank"), file.facts("world_size")), ([("", 3)], [("", 8)]))
            self.assertEqual(len(file.facts("torch")), 1)
            # os._exit takes the last 100 ms and the orderly end away: 2 of 9 waits at most.
            self.assertEqual(len(file.facts("ended")), 0 if len(file.waits()) > 2 else 1)

    def test_exec_starts_a_second_file(self):
        run = self.program(SLOW + """
for batch in loader(4): pass
if len(sys.argv) == 1: os.execv(sys.executable, [sys.executable, sys.argv[0], 'again'])
""")
        self.assertEqual([os.path.basename(f.path) for f in run.files],
                         [f"python-{run.files[0].pid}-{n}.fwr" for n in (0, 1)])
        self.assertEqual(len(run.files[1].waits()), 2)

    def test_marks_of_several_threads(self):
        file = self.forked(SLOW + """
import threading
def work():
    for batch in torch.utils.data.DataLoader(list(range(2000)), batch_size=1): pass
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""").file
        self.assertEqual(len(file.waits()), 4 * 2001)
        self.assertEqual(sorted(len([w for w in file.waits() if w.tid == tid]) for tid in {w.tid for w in file.waits()}),
                         [2001] * 4)
        self.assertEqual(file.losses, [])

    def test_own_profiler_gets_its_trace(self):
        text = SLOW + """
from torch.profiler import profile, schedule, ProfilerActivity
traces = []
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=1, repeat=2),
             on_trace_ready=lambda p: traces.append(len([e for e in p.events() if 'relu' in e.name]))) as p:
    for i in range(7): torch.ones(4).relu(); p.step()
print(traces)
"""
        name = self.write("profile.py", text)
        run, plain = self.forking.run(name), self.plain.run(name)
        self.assertEqual((run.stdout, run.status), (plain.stdout, plain.status))
        self.assertIn("[1, 1]", run.stdout)

    def test_program_limits_its_recursion(self):
        run = self.forked("""
import sys, torch
data = torch.utils.data.DataLoader(list(range(20)), batch_size=2)
def deep(n): return deep(n - 1) if n else sum(int(x.sum()) for x in data)
sys.setrecursionlimit(300)
for n in range(0, 400, 7):
    try: deep(n)
    except RecursionError: break
print(n > 0, sum(int(x.sum()) for x in data))
""")
        self.assertEqual(run.stdout, "True 190\n")

    def test_python_calls_change_neither_results_nor_what_is_traced(self):
        name = self.write("jit.py", """
import io, pickle, warnings, torch
warnings.simplefilter('ignore')
x = torch.arange(6.0).reshape(2, 3)
def f(x):
    y = x.cpu().to(torch.float64) + x.sum().item()
    return y * 2 if bool(y.sum() > 0) else y
@torch.jit.script
def g(x):
    if bool(x.sum() > 0): return x.to(torch.float64) * x[0, 1].item()
    return x.cpu().to(torch.float64)
traced = torch.jit.trace(f, (x,))
print(traced.graph, g.graph, traced(x), g(x), f(x), sep='\\n')
print(x.tolist(), x.numpy(), int(x[0, 1]), float(x[1, 1]), [1, 2, 3][torch.tensor(1)], bool(x[0, 0]))
class Mine(torch.Tensor): pass
m = x.as_subclass(Mine)
print(type(m.cpu()), m[0, 1].item(), type(torch.nn.Parameter(x).to(torch.float64)))
for bad in (lambda: x.item(), lambda: bool(x), lambda: x.to('nowhere'), lambda: torch.Tensor.item()):
    try: bad()
    except Exception as error: print(type(error).__name__, error)
with torch.no_grad(): print(torch.vmap(lambda t: t.to(torch.float64) * 2)(x) if hasattr(torch, 'vmap') else '')
torch.save({'x': x, 'item': torch.Tensor.item.__name__}, io.BytesIO())
print(torch.overrides.is_tensor_method_or_property(torch.Tensor.cpu), torch.Tensor.to.__doc__[:20])
""")
        plain = self.plain.run(name)
        self.assertEqual(plain.status, 0, plain.stderr)
        run = self.run_shim([name], options="python_calls=1")
        # A traced graph says in comments where each operator was called.
        self.assertEqual([line.partition(" # ")[0] for line in run.stdout.splitlines()],
                         [line.partition(" # ")[0] for line in plain.stdout.splitlines()])
        self.assertEqual((run.stderr, run.status), (plain.stderr, plain.status))
        self.assertEqual(run.file.marks(shim.CALL_SITE), [])  # no GPU, no call that waits for one

    def test_cost_of_a_loader_step(self):
        text = SLOW + """
p = torch.nn.Parameter(torch.ones(1)); p.grad = torch.ones(1)
optimizer = torch.optim.SGD([p], 0.25)
data = torch.utils.data.DataLoader(list(range(3000)), batch_size=None)
best = 1e9
for _ in range(5):
    start = time.perf_counter()
    for x in data: optimizer.step()
    best = min(best, (time.perf_counter() - start) / 3000)
print(best * 1e6)
"""
        name = self.write("cost.py", text)
        plain = min(float(self.plain.run(name).stdout) for _ in range(2))
        cost = min(float(self.forking.run(name).stdout) for _ in range(2)) - plain
        print(f"a step of loader and optimizer: {plain:.1f} us without, {cost:+.1f} us with the shim")
        self.assertLess(cost, 60)


if __name__ == "__main__":
    shim.main(needs_torch=True)
