"""blocking-copy: 'async' copies of pageable memory hold the host and the GPU."""
from make_trace import Trace


def loop(steps, host_memory):
    trace = Trace()
    host = trace.thread()
    for _ in range(steps):
        with host.operator("aten::to"), host.operator("aten::copy_"):
            host.copy("HtoD", 38535168, 6000, host=host_memory)
        for _ in range(20):
            with host.operator("aten::conv2d"):
                host.launch("conv", 200)
    return trace


def fires():
    """Ten steps: a copy of 6 ms, then 20 kernels of 200 us, launched in 100 us, so that the next copy call begins while they
    run and its copy starts when they end. No kernel runs during the ten copies: 60,000 us. After each the first kernel
    needs 5 us of call and 2 us of way: 70 us. Together 60,070 us; 38,535,168 B in 6 ms are 6.42 GB/s."""
    return loop(10, "Pageable")


def quiet():
    """The same copies of page-locked memory: the host does not wait for them."""
    return loop(10, "Pinned")


def pinned_elsewhere():
    """Public cases (C008, C010): page-locked memory was asked for, and the copies are still pageable: the batch is of a class
    that the loader does not pin, or the pinned buffer's name was given to another array."""
    trace = Trace()
    host = trace.thread()
    host.call("cudaHostAlloc", 500)
    for _ in range(10):
        host.copy("HtoD", 38535168, 6000)
        host.launch("conv", 1000)
    return trace


def read_backs():
    """A public capture: 34 copies of 8 bytes took 27 us, and the 33 synchronisations after them cost 324 ms. Here 34 steps: the
    host works 9,500 us, launches a kernel of 300 us, and copies 8 bytes back into pageable memory (0.8 us), then
    synchronises. The copies' own time is 27 us; the GPU is idle for 9,500 us of work, the return of 2 us, 5 us of
    call and 2 us of way after each of the 33 that something follows: 313,797 us, and 27 us of copies without a kernel."""
    trace = Trace()
    host = trace.thread()
    for _ in range(34):
        with host.operator("aten::prepare"):
            host.work(9500)
        host.launch("gemm", 300)
        host.copy("DtoH", 8, 0.8)
        host.sync(7)
    return trace


def slow_link():
    """A public case (C012): 24 MB of weights at 700 MB/s from pageable memory, 16 times slower than from page-locked memory on
    the same machine. The evidence gives the rate."""
    trace = Trace()
    host = trace.thread()
    for _ in range(5):
        host.copy("HtoD", 24000000, 34285.7)
        host.launch("gemm", 1000)
    return trace


def versioned_name():
    """A public case (C108): names with a version, cudaMemcpy_v3020, are the same calls; a synchronous copy of page-locked
    memory blocks as well. Ten times 1,000 us, with no kernel beside them; and the first kernel after each 7 us later."""
    trace = Trace()
    host = trace.thread()
    for _ in range(10):
        host.copy("HtoD", 10000000, 1000, host="Pinned", call="cudaMemcpy_v3020")
        host.launch("gemm", 1000)
    return trace


def threads_of_synchronous_copies():
    """A public case (C051): four threads gained nothing over one, since every call was synchronous. Each thread copies 100 us
    on its own stream and computes 100 us; the copies of one lie beside kernels of others, so what is exposed is less
    than their sum. It must fire."""
    trace = Trace()
    threads = [trace.thread(t, at=70 * t) for t in range(1, 5)]
    for _ in range(10):
        for t in threads:
            t.copy("HtoD", 1000000, 100, stream=10 + t.tid, call="cudaMemcpy")
            t.launch("fit", 50, stream=10 + t.tid)
            t.sync(10 + t.tid)
            t.work(300)
    return trace


EXPECT = {
    "pinned_elsewhere": {"says": ["custom class"]},
    "read_backs": {"cost_us": 313824, "first": True, "says": ["34 copies", "a few bytes", "copying 27 us"]},
    "slow_link": {"says": ["700 MB/s"]},
    "versioned_name": {"cost_us": 10070, "says": ["page-locked already"]},
    "threads_of_synchronous_copies": {"says": ["cudaMemcpy"]},
    "fires": {"cost_us": 60070, "first": True, "says": ["6.42 GB/s", "pin_memory=True", "a stream of its own", "aten::copy_"]},
    "quiet": {"fires": False},
}
