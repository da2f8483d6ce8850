"""allocation-stall: memory is allocated, freed or page-locked while the GPU waits."""
from make_trace import Trace


def loop(steps, allocate):
    trace = Trace()
    host = trace.thread()
    for _ in range(steps):
        with host.operator("aten::empty"):
            if allocate:
                host.call("cudaMalloc", 400)
            else:
                host.work(1)
        with host.operator("aten::mm"):
            host.launch("gemm", 100)
        if allocate:
            host.call("cudaFree", 300)
    return trace


def fires():
    """Twenty steps: cudaMalloc 400 us, a kernel of 100 us, cudaFree 300 us that begins with the call's end and so runs
    2 + 100 us beside the kernel. The GPU is idle for 198 us of cudaFree and 400 us of cudaMalloc 19 times: 11,362 us."""
    return loop(20, True)


def quiet():
    """Memory comes from the framework's cache: no call at all."""
    return loop(20, False)


def pinning_thread():
    """A public case (C014): the loader's pinning thread page-locks memory after the warm-up, too, and each call holds up the
    launches of the main thread. A launch call that would take 5 us takes 3,000 us because of it: of each of the 9 gaps
    that follow a kernel of 10 us (it ends 12 us after the call before), 2,988 us lie inside the held-up call."""
    trace = Trace()
    host, pin = trace.thread(), trace.thread(2)
    for _ in range(10):
        pin.until(host.now / 1000)
        pin.call("cudaHostAlloc", 3000)
        host.launch("gemm", 10, call_us=3000)
    return trace


def freeing_waits_for_work():
    """cudaFree waits for queued kernels: the GPU is busy, and only the microsecond after the last kernel is idle."""
    trace = Trace()
    host = trace.thread()
    for _ in range(5):
        for _ in range(10):
            host.launch("gemm", 1000)
        host.call("cudaFree", (trace.drained() - host.now) / 1000 + 1)
    return trace


EXPECT = {
    "fires": {"cost_us": 11362, "first": True, "says": ["cudaMalloc", "cudaFree", "empty_cache"]},
    "quiet": {"fires": False},
    "pinning_thread": {"cost_us": 26892, "says": ["cudaHostAlloc", "held up", "prefetch_factor"]},
    "freeing_waits_for_work": {"fires": False},
}
