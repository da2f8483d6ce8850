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


EXPECT = {
    "fires": {"cost_us": 12857, "at_most_us": (12857, 12857), "first": True, "says": ["aten::mul", "every 60 us, takes 10 us"]},
    "quiet": {"fires": False},
}
