"""host-bound: operators and Python do not issue work fast enough."""
from make_trace import Trace


def loop(operators, kernel_us):
    trace = Trace()
    host = trace.thread()
    for _ in range(operators):
        with host.operator("aten::mul"):
            host.work(35)
            host.launch("mul", kernel_us)
        host.work(20)
    return trace


def fires():
    """Three hundred operators, one every 60 us: 35 us of operator, 5 us of launch call inside it, 20 us that the trace does
    not show; kernels of 10 us. A kernel ends 12 us after its call: 8 us of the unrecorded time and the 35 us of operator
    leave the GPU idle, 299 times 43 us: 12,857 us. The 7 us that follow are launch latency."""
    return loop(300, 10)


def quiet():
    """The same host with kernels of 200 us: it runs ahead of the GPU."""
    return loop(300, 200)


def waits_are_the_cause():
    """Twenty steps of 10 kernels of 100 us, 300 us of operator, and a synchronisation each: the GPU is idle while the host
    runs the operator, but only because of the waits; the host needs 350 us a step, the GPU 1,000 us."""
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        with host.operator("aten::prepare"):
            host.work(300)
        for _ in range(10):
            host.launch("gemm", 100)
        host.sync(7)
    return trace


def partly_waits():
    """Twenty steps: 300 us of operator, then 4 launches of 5 us and kernels of 50 us, a synchronisation. The kernels run from
    7 us after the first call begins, for 200 us; the call returns 2 us after them. The host works 300 + 4 x 5 us a step, 20
    steps, of which 300 us before the window; the GPU 20 x 200 us. The window begins 7 us after the first launch call, so
    the host's work in it is 20 x 20 - 7 + 19 x 300 us = 6,093 us, 2,093 us more than the GPU's: less than the 19 x 300 us for
    which the GPU is idle meanwhile, since it could run 200 us of each step under them."""
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        with host.operator("aten::prepare"):
            host.work(300)
        for _ in range(4):
            host.launch("gemm", 50)
        host.sync(7)
    return trace


EXPECT = {
    "waits_are_the_cause": {"fires": False},
    "partly_waits": {"cost_us": 2093, "tolerance": 0.02, "says": ["not because the host is slow"]},
    "fires": {"cost_us": 12857, "at_most_us": (12857, 12857), "first": True, "says": ["aten::mul", "every 60 us, takes 10 us"]},
    "quiet": {"fires": False},
}
