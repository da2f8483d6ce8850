"""host-memory-growth: recordings whose host samples grow by known amounts.

The window is 178.5 s, so the part looked at is [59.5, 178.5]: 119 s, in which the rule looks once a second. A sample
0.25 s before each of these points gives it its value: what is told of second k holds at the point 59.5 + k.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import make_recording as recording
from make_trace import Trace

MB = 1e6
CUPTI = recording.CUPTI
LAST = 119  # the second k of the last point
PROGRAM, WORKERS = 100, (101, 102, 103, 104)


def ns(seconds):
    return round(seconds * 1e9)


class Recording:
    """A folder; each value is a function of k, from -59 to 119, in MB."""

    def __init__(self, program, workers=None, left=None, shared=0, share=None, page_locks=False, samples=True, seconds=178.5):
        self.program, self.workers, self.left, self.shared, self.share = program, workers, left, shared, share
        self.page_locks, self.samples, self.seconds = page_locks, samples, seconds

    def write(self, path):
        folder = pathlib.Path(path)
        folder.mkdir()
        self.write_process(folder)
        if self.samples:
            self.write_host(folder)

    def write_process(self, folder):
        rec = recording.File("process", PROGRAM)
        rec.device()
        rec.clock(recording.MONO, CUPTI)
        for corr, at in ((1, 0), (2, self.seconds - 0.001)):
            rec.call(CUPTI + ns(at) - 7_000, CUPTI + ns(at) - 2_000, corr)
            rec.kernel(CUPTI + ns(at), CUPTI + ns(at + 0.001), corr)
        for k in range(LAST if self.page_locks else 0):
            at = CUPTI + ns(59.75 + k)
            rec.call(at - 500_000, at + 500_000, 10 + k, "cudaHostAlloc")
            rec.allocation(at, 10 + k, round(10 * MB), memory=recording.PINNED)
        rec.clock(recording.MONO + ns(self.seconds), CUPTI + ns(self.seconds))
        rec.write(folder / "process-100-0.fwr")

    def write_host(self, folder):
        rec = recording.File("host", 99)
        rec.host(recording.MONO, "parent_pid", 99, pid=PROGRAM)
        rec.host(recording.MONO, "memory_limit_bytes", 64e9)
        for worker in WORKERS if self.workers else ():
            rec.host(recording.MONO, "parent_pid", PROGRAM, pid=worker)
            rec.host(recording.MONO, "shared_bytes", self.shared * MB, pid=worker)
        told = {}
        for k in range(-59, LAST + 1):
            values = {("rss_bytes", PROGRAM): self.program(k)}
            for worker in WORKERS if self.workers else ():
                values["rss_bytes", worker] = self.workers(k)
                if self.share:
                    values["pss_anon_bytes", worker] = self.share(k)
            if self.left:
                values["memory_free_bytes", 0] = self.left(k)
            for (name, pid), value in values.items():
                if told.get((name, pid)) != value:  # as the recorder does
                    rec.host(recording.MONO + ns(59.25 + k), name, value * MB, pid=pid)
                told[name, pid] = value
        rec.write(folder / "host.fwr")


def flat(megabytes):
    return lambda k: megabytes


def ramp(megabytes, a_second):
    return lambda k: megabytes + a_second * k


def fires():
    """The program grows by 10 MB/s, and page-locks a block of 10 MB each second, 119 of them: 1,190 MB of 1,190. The
    machine has 20 GB left, which is 2,000 s of 10 MB."""
    return Recording(ramp(1000, 10), flat(100), left=lambda k: 20000 + 10 * (LAST - k), page_locks=True)


def locked_beside():
    """Page-locked memory that the driver does not count as resident grows all the same."""
    return Recording(flat(1000), page_locks=True)


def loop_keeps_results():
    """The same without page-locking."""
    return Recording(ramp(1000, 10))


def python_list():
    """Four workers of 500 MB each stay as they are, and so does the program; 10 MB of the machine go each second."""
    return Recording(flat(1000), flat(500), left=lambda k: 20000 + 10 * (LAST - k))


def pages_copied():
    """Four workers of 500 MB each stay as they are, but each one's part of it grows by 2.5 MB/s from 200 MB: 800 MB, and
    10 MB/s. Nothing is known of the memory left."""
    return Recording(flat(1000), flat(500), share=ramp(200, 2.5))


def others_beside_workers():
    """Memory goes, but not to the workers: their parts stay."""
    return Recording(flat(1000), flat(500), left=lambda k: 20000 + 10 * (LAST - k), share=flat(200))


def workers_allocate():
    """Each worker's part grows by 0.5 MB/s, 238 MB in all, and so does its resident memory, which is 5 % of it at most:
    nothing is copied."""
    return Recording(flat(1000), ramp(5000, 0.5), share=ramp(200, 0.5))


def workers_keep():
    """Each of four workers grows by 2.5 MB/s from 300 MB, 100 of which are shared memory: 800 MB, and 10 MB/s."""
    return Recording(flat(1000), ramp(300, 2.5), shared=100)


def corrected():
    """Page-locked blocks at the start only; nothing grows, though the memory left goes up and down."""
    return Recording(flat(1000), flat(500), left=lambda k: 20000 + 100 * (k % 7))


def sawtooth():
    """Up by 20 MB/s for 30 s, and back again: the lows stay."""
    return Recording(lambda k: 1000 + 20 * (k % 30))


def warm_up():
    """Up to 300 MB more until second 20 of the part looked at; then flat."""
    return Recording(lambda k: 1000 + 3.75 * min(k + 60, 80))


def little():
    """63 MB more, steadily: under 64 MB."""
    return Recording(ramp(1000, 63 / LAST))


def others_take_memory():
    """Memory goes, but the program has no workers whose pages could be copied."""
    return Recording(flat(1000), left=lambda k: 20000 + 10 * (LAST - k))


def no_samples():
    """Recorded without --no-host, it would show."""
    return Recording(flat(1000), samples=False)


def too_short():
    """Twenty seconds are all warm-up."""
    return Recording(ramp(1000, 10), seconds=20)


def profile():
    """A trace of the PyTorch profiler that lasts 40 s: it has no samples of the host."""
    trace = Trace()
    host = trace.thread()
    host.launch()
    host.until(40_000_000)
    host.launch()
    return trace


EXPECT = {
    "fires": {"says": ["page-locked blocks are taken and kept", "1.00 GB at the start, 2.19 GB at the end, 600 MB a minute",
                       "1.19 GB, 119 calls", "400 MB at the start, 400 MB at the end",
                       "20.0 GB of 64.0 GB: full in 33 min", "119.00 s", "no GPU time until the memory is full"],
              "never": ["unknown"], "verdict_never": "Work ran"},
    "locked_beside": {"says": ["page-locked blocks are taken and kept", "1.00 GB at the start, 1.00 GB at the end",
                               "1.19 GB, 119 calls"]},
    "loop_keeps_results": {"says": ["not by page-locking", "1.00 GB at the start, 2.19 GB at the end, 600 MB a minute",
                                    "calls that page-lock memory"], "never": ["full in"]},
    "python_list": {"says": ["forked workers seem to copy the pages that they share", "1.19 GB, 600 MB a minute",
                             "2.00 GB at the start, 2.00 GB at the end", "20.0 GB of 64.0 GB: full in 33 min"],
                    "never": ["page-lock"]},
    "pages_copied": {"says": ["forked workers copy the pages that they share",
                              "800 MB at the start, 1.99 GB at the end, 600 MB a minute",
                              "2.00 GB at the start, 2.00 GB at the end"], "never": ["look the same", "page-lock"]},
    "others_beside_workers": {"fires": False},
    "workers_allocate": {"fires": False},
    "workers_keep": {"says": ["processes below the program grows", "800 MB at the start, 1.99 GB at the end, 600 MB a minute",
                              "1.00 GB at the start, 1.00 GB at the end"], "never": ["page-lock"]},
    "corrected": {"fires": False},
    "sawtooth": {"fires": False},
    "warm_up": {"fires": False},
    "little": {"fires": False},
    "others_take_memory": {"fires": False},
    "no_samples": {"unable": "samples of the processes' memory"},
    "too_short": {"unable": "30 seconds"},
    "profile": {"unable": "samples of the processes' memory"},
}
