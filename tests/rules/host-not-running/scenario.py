"""host-not-running: needs context switches, which the PyTorch profiler does not record."""
from make_trace import Trace


def lacks_context_switches():
    """The host is slow, and whether it was scheduled cannot be told: never 'no problem'."""
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        host.work(1000)
        host.launch("gemm", 100)
    return trace


def quiet():
    """The GPU is busy: there is nothing that context switches could explain."""
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        host.launch("gemm", 1000)
    return trace


EXPECT = {
    "lacks_context_switches": {"unable": "context switches"},
    "quiet": {"fires": False},
}
