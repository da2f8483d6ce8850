"""collective-wait: only collectives run."""
from make_trace import Trace

REDUCE, GATHER = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_AllGather_RING_LL"


def fires():
    """Ten steps: a kernel of 1,000 us, then an all-reduce of 400 us on its own stream that waits for it. All launched ahead,
    each all-reduce starts when the kernel ends, the next kernel when the all-reduce ends: 10 x 400 us alone."""
    trace = Trace()
    host = trace.thread()
    for _ in range(10):
        trace.free[7] = max(trace.free.get(7, 0), trace.free.get(30, 0))
        host.launch("gemm", 1000)
        trace.free[30] = trace.free[7]
        host.launch(REDUCE, 400, stream=30, grid=(16, 1, 1))
    return trace


def quiet():
    """The all-reduce of each step runs under the kernel of the next: only the last runs alone for 400 us of 10,400; that is
    above 1 %, so the last step has a kernel under it, too."""
    trace = Trace()
    host = trace.thread()
    for _ in range(10):
        host.launch("gemm", 1000)
        host.launch(REDUCE, 400, stream=30, grid=(16, 1, 1))
    return trace


def two_streams():
    """A public case (C104): two collectives at once, summed stream by stream, made 'communication' longer than the run. A
    kernel of 1,000 us, then an all-reduce and an all-gather of 400 us that overlap but for the 5 us between their launch
    calls' ends; both launched ahead and started by hand at the kernel's end: 400 us once, not 800."""
    trace = Trace()
    host = trace.thread()
    for _ in range(10):
        trace.free[7] = max(trace.free.get(k, 0) for k in (7, 30, 31)) if trace.free else 0
        host.launch("gemm", 1000)
        trace.free[30] = trace.free[31] = trace.free[7]
        host.launch(REDUCE, 400, stream=30, grid=(16, 1, 1))
        host.launch(GATHER, 400, stream=31, grid=(16, 1, 1))
    return trace


def spinning():
    """A public case (C071): a GPU at 100 % that only waits in a collective. Two ranks; the second comes 3,000 us late to each
    of ten all-reduces of 100 us. The first rank spins for 3,100 us in each: busy, and not computing. Its time is told as
    waiting for the last of the two."""
    ranks = []
    for rank, (kernel, reduce) in enumerate(((1000, 3100), (4000, 100))):
        trace = Trace(rank=rank, world=2, pid=100 + rank)
        host = trace.thread()
        for _ in range(10):
            host.launch("gemm", kernel)
            host.launch(REDUCE, reduce, grid=(16, 1, 1))
        ranks.append(trace)
    return ranks


EXPECT = {
    "fires": {"cost_us": 4000, "first": True, "says": ["0 % of it", "other ranks", "no_sync"]},
    "quiet": {"fires": False},
    "two_streams": {"cost_us": 4000},
    "spinning": {"cost_us": 31000, "says": ["30.0 ms was waiting for the last of 2 GPUs"]},
}
