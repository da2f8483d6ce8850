"""implicit-sync: calls that wait for the GPU, or for the driver, without saying so."""
from make_trace import Trace


def loop(steps, drain):
    trace = Trace()
    host = trace.thread()
    for _ in range(steps):
        for _ in range(10):
            host.launch("gemm", 100)
        if drain:
            host.call("cudaFree", max(0, trace.drained() - host.now) / 1000 + 1)
        with host.operator("aten::prepare"):
            host.work(200)
    return trace


def fires():
    """Twenty steps of 10 kernels of 100 us, then a cudaFree that returns 1 us after the last kernel, then 200 us of host
    work. After each of the 19 calls that something follows the GPU is idle for 1 us inside the call (alloc), then for
    200 us of work, 5 us of call and 2 us of way: 19 x 207 us = 3,933 us."""
    return loop(20, True)


def quiet():
    """The same without the calls: the host runs ahead."""
    return loop(20, False)


def long_queue():
    """A public case (C057): five seconds of stall after each all-reduce seemed to be in empty_cache. It waited for work that
    was queued: the GPU was busy all the time, and nothing follows. No cost."""
    trace = Trace()
    host = trace.thread()
    for _ in range(50):
        host.launch("gemm", 100000)
    host.call("cudaFree", (trace.drained() - host.now) / 1000 + 5)
    return trace


def stalled_launch():
    """A launch call that is not the first of its kernel stalls for 10 ms while the GPU is idle, and no record says why:
    10,000 us less the 3 us for which the kernel before still runs (2 us of way, 3 us, from the end of its call)."""
    trace = Trace()
    host = trace.thread()
    for i in range(20):
        host.launch("add", 3, call_us=10000 if i == 10 else 5)
    return trace


EXPECT = {
    "fires": {"cost_us": 3933, "says": ["cudaFree", "20"]},
    "quiet": {"fires": False},
    "long_queue": {"fires": False},
    "stalled_launch": {"cost_us": 9995, "says": ["no record shows"]},
}
