"""input-bound: the loop waits for its loader."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import make_recording as recording
from make_trace import Trace


def loop(batches, wait_us, kernel_us, workers):
    trace = Trace()
    host = trace.thread()
    for _ in range(batches):
        host.loader(wait_us, workers)
        with host.operator("aten::conv2d"):
            host.launch("conv", kernel_us)
    return trace


def fires():
    """Ten batches, 20 ms of loading in the loop's own process, then a kernel of 5 ms.
    Loading of the next batch begins when the launch call returns, the kernel 2 us later: of each of the nine waits the GPU
    is idle for 20,000 - 2 - 5,000 = 14,998 us: 134,982 us. Then 5 us of call and 2 us of way: not input.
    The GPU needs a batch every 5 ms, a worker makes one in 20 ms: 4 workers."""
    return loop(10, 20000, 5000, workers=False)


def quiet():
    """The batch is ready after 100 us, while the kernel of the batch before still runs for 5 ms."""
    return loop(10, 100, 5000, workers=True)


def too_few_workers():
    """A public case (C001): the worker count was a constant of the days without a GPU. Two workers deliver a batch every
    217 ms, the GPU needs 100 ms: the wait is 217 ms, the GPU idle for 117 ms of it less the 2 us of way: 59 x 116,998 us.
    With 2.2 times the workers the loader keeps up; more workers than that gained 4.3 times the speed there."""
    return loop(60, 217000, 100000, workers=True)


def bursts():
    """A public case (C003): training advances in bursts of N batches, N = num_workers. Four workers, 8 steps of 10 ms a batch:
    four batches come at once, then the loop waits 40 ms. Six rounds; each long wait begins with the last launch call of a
    round, 2 us before its kernel of 10 ms starts, which is the fourth in a queue of 40 ms less 30 us of host time:
    the host is 4 x 5 + 3 x 1 us ahead. Idle: 80,000 us of wait less the 40,002 us of queue that are left less
    the 3 x 6 us that the host took to launch the rest."""
    trace = Trace()
    host = trace.thread()
    for i in range(24):
        host.loader(80000 if i % 4 == 0 else 1)
        host.launch("conv", 10000)
    return trace


def loader_is_hidden():
    """A public case (C005): one thread less in the loader's library cut the CPU's load and changed nothing in speed: the
    loader was hidden behind the GPU. 20 ms of loading under 100 ms of kernel: no finding, no promise."""
    return loop(10, 20000, 100000, workers=True)


def start_up():
    """One wait of 500 ms in which the workers start, then none worth the name: more workers would lengthen it."""
    trace = Trace()
    host = trace.thread()
    host.launch("warm", 10)
    for i in range(20):
        host.loader(500000 if i == 0 else 10)
        host.launch("conv", 5000)
    return trace


def no_marks():
    """A loop of its own without any mark: the rule cannot look, and says how to mark it."""
    trace = Trace()
    host = trace.thread()
    for _ in range(10):
        host.work(20000)
        host.launch("conv", 5000)
    return trace


class OneThreadPageLocks:
    """20 batches, 10 ms each: 8 ms of waiting, a launch, 1 ms of kernel. The thread that page-locks runs `busy` ms of the 10:
    told at each batch, from the first sample to the last 8.5 of 10 are 85 %. Idle inside the waits, with those 6 us in
    which the launch call and its way are not the wait's, is what `fires` counts; here only the advice matters."""

    def __init__(self, busy_ms):
        self.busy_ms = busy_ms

    def write(self, path):
        folder = pathlib.Path(path)
        folder.mkdir()
        process, python = recording.File("process", 100), recording.File("python", 100)
        host = recording.File("host", 99)
        process.device()
        process.clock(recording.MONO, recording.CUPTI)
        host.thread(107, "pt_data_pin", pid=100)
        for k in range(20):
            at = k * 10_000_000
            python.range(recording.MONO + at, recording.MONO + at + 8_000_000, "input",
                         "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
            process.call(recording.CUPTI + at + 8_100_000, recording.CUPTI + at + 8_105_000, k + 1)
            process.kernel(recording.CUPTI + at + 8_107_000, recording.CUPTI + at + 9_107_000, k + 1)
            host.host(recording.MONO + at + 8_200_000, "run_ns", k * self.busy_ms * 1e6, pid=100, tid=107)
        process.clock(recording.MONO + 200_000_000, recording.CUPTI + 200_000_000)
        process.write(folder / "process-100-0.fwr")
        python.write(folder / "python-100-0.fwr")
        host.write(folder / "host.fwr")


def page_locking_limits():
    return OneThreadPageLocks(8.5)


def page_locking_has_time():
    """Half of the time: workers are what is missing."""
    return OneThreadPageLocks(5)


EXPECT = {
    "page_locking_limits": {"says": ["pt_data_pin ran 85 %", "uint8"], "never": ["times the workers"]},
    "page_locking_has_time": {"says": ["times the workers"], "never": ["pt_data_pin"]},
    "too_few_workers": {"cost_us": 6902882, "says": ["2.2 times the workers"]},
    "bursts": {"cost_us": 5 * 40016, "tolerance": 0.01, "says": ["every 4 batches"]},
    "loader_is_hidden": {"fires": False},
    "start_up": {"says": ["persistent_workers=True", "more workers do not shorten"], "never": ["times the workers"]},
    "no_marks": {"unable": "data-loader waits"},
    "fires": {"cost_us": 134982, "first": True, "says": ["num_workers=4", "num_workers=0"]},
    "quiet": {"fires": False},
}
