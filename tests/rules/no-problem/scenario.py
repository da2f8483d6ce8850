"""no-problem: the GPU is busy, and nothing outside the kernels matters."""
from make_trace import Trace


def fires():
    """A hundred kernels of 1 ms, launched ahead."""
    trace = Trace()
    host = trace.thread()
    for _ in range(100):
        host.launch("gemm", 1000)
    return trace


def quiet():
    """Kernels of 1 ms, and 0.5 ms of host work after each, which the GPU waits for."""
    trace = Trace()
    host = trace.thread()
    for _ in range(50):
        host.work(500)
        host.launch("gemm", 1000)
        host.sync()
    return trace


EXPECT = {
    "fires": {"cost_us": 0, "at_most_us": (0, 0), "says": ["100.0 % of the window", "could not look"]},
    "quiet": {"fires": False},
}
