"""input-bound: the loop waits for its loader."""
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


EXPECT = {
    "fires": {"cost_us": 134982, "first": True, "says": ["num_workers=4", "num_workers=0"]},
    "quiet": {"fires": False},
}
