"""stream-serialisation: small kernels that could run together run one by one. The GPU is an A100: 108 SMs."""
from make_trace import Trace

SMALL, FULL = (16, 1, 1), (4096, 1, 1)


def pairs(grid, serial, wait_event=False):
    """Two threads, a stream each: kernels of 100 us, launched together every 400 us. Serial: the second starts when the
    first ends, as with the legacy default stream between them."""
    trace = Trace()
    one, two = trace.thread(), trace.thread(2)
    for i in range(50):
        one.until(400 * i)
        two.until(400 * i)
        _, end = one.launch("a", 100, stream=7, grid=grid)
        if wait_event:
            two.call("cudaStreamWaitEvent", 1)
        if serial:
            trace.free[20] = max(trace.free.get(20, 0), round(end * 1000))
        two.launch("b", 100, stream=20, grid=grid)
    return trace


def fires():
    """Both launch calls end 5 us into the round; the first kernel runs from 7 to 107 us, the second was launched by then and
    starts at 107 us. It waited, ready, from the start of the first: 50 x 100 us."""
    return pairs(SMALL, serial=True)


def quiet():
    """They overlap."""
    return pairs(SMALL, serial=False)


def full_kernels():
    """One by one, but each fills the GPU: company gains nothing."""
    return pairs(FULL, serial=True)


def asked_for():
    """One by one because the program waits for an event: an order of its own."""
    return pairs(SMALL, serial=True, wait_event=True)


def one_stream_many_threads():
    """A public case (C049): several threads, each meaning to have a stream, but the library puts all kernels on one.
    Every 100 us two threads launch a kernel of 50 us each: the second is ready when the first starts and waits for its
    50 us; 50 x 50 us."""
    trace = Trace()
    one, two = trace.thread(), trace.thread(2)
    for i in range(50):
        one.until(200 * i)
        two.until(200 * i)
        one.launch("gemm", 50, grid=SMALL)
        two.launch("gemm", 50, grid=SMALL)
    return trace


def graph_streams():
    """A public case (C088): a graph's kernels run on hundreds of streams that nobody made. They are no concurrency to ask for:
    each follows the one before by the graph's own order."""
    trace = Trace()
    host = trace.thread()
    for i in range(200):
        host.call("cudaGraphLaunch", 5) if i == 0 else None
        trace.free[1000 + i] = trace.drained()
        trace.operation("kernel", "node", host.now + 2000, 20, 1000 + i, grid=[16, 1, 1], block=[128, 1, 1],
                        **{"registers per thread": 32, "shared memory": 0})
    return trace


EXPECT = {
    "fires": {"cost_us": 5000, "says": ["50 of 100", "legacy default stream", "cudaStreamNonBlocking"]},
    "quiet": {"fires": False},
    "full_kernels": {"fires": False},
    "asked_for": {"fires": False},
    "one_stream_many_threads": {"cost_us": 2500, "says": ["50 behind another thread", "per-thread"]},
    "graph_streams": {"fires": False},
}
