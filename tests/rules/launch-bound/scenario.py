"""launch-bound: launches of small kernels reach the GPU one by one."""
from make_trace import Trace


def fires():
    """A thousand kernels of 3 us, launched by calls of 8 us back to back. Each kernel starts 2 us after its call and ends 5 us
    after it, 3 us before the next call returns: 999 x 3 = 2,997 us of launch latency. The 2 us of way that follow belong to
    device-wait, since their call began before the gap."""
    trace = Trace()
    host = trace.thread()
    for _ in range(1000):
        host.launch("add", 3, call_us=8)
    return trace


def quiet():
    """Queue back-pressure: every fiftieth launch call stalls for 2 ms, while kernels of 100 us keep the GPU busy."""
    trace = Trace()
    host = trace.thread()
    for i in range(300):
        host.launch("conv", 100, call_us=2000 if i % 50 == 49 else 5)
    return trace


def profiler_inside():
    """A public case (C090): the profiler takes a buffer inside one launch call, which then lasts 5 ms. Not the program's
    cost: of the 101 gaps of 5 us (a call of 8 us, a kernel of 3 us), 3 us each are launch latency: 300 us in 100 gaps. The
    long call leaves a gap of 5,000 - 5 + 2 us, 4,990 us of which the profiler's record covers."""
    trace = Trace()
    host = trace.thread()
    for i in range(102):
        if i == 50:
            trace.overhead(host.now / 1000 + 6, 4990)
        host.launch("add", 3, call_us=5000 if i == 50 else 8)
    return trace


def graph_of_many():
    """A public case (C106): the launch of a graph was charged once for each of its kernels. Twenty graphs of 100 kernels of
    2 us, 1 us apart; a launch call takes 20 us. The calls run ahead of the GPU (300 us a graph), so that only the 1 us
    between kernels is idle, and that waits on the device's side: nothing to charge."""
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        host.graph(100, 2)
    return trace


def batch_of_one():
    """Public cases (C028, C030): one operator at a time with kernels of 3 us. Each call of 7 us comes 5 us of operator after the
    one before: the kernel runs from 2 to 5 us after its call; 7 us of call, of which all lie in the gap (the operator's
    5 us end with the kernel), then 2 us of way: 499 x 9 us of launch latency."""
    trace = Trace()
    host = trace.thread()
    for _ in range(500):
        with host.operator("aten::add"):
            host.work(5)
            host.launch("add", 3, call_us=7)
    return trace


EXPECT = {
    "graph_of_many": {"fires": False},
    "batch_of_one": {"cost_us": 4491, "says": ["500 of 500", "larger batch"]},
    "fires": {"cost_us": 2997, "first": True, "says": ["1000 of 1000", "reduce-overhead"]},
    "quiet": {"fires": False},
    "profiler_inside": {"cost_us": 300, "tolerance": 0.02, "says": ["profiler's own work"]},
}
