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


EXPECT = {
    "fires": {"cost_us": 60070, "first": True, "says": ["6.42 GB/s", "pin_memory=True", "a stream of its own", "aten::copy_"]},
    "quiet": {"fires": False},
}
