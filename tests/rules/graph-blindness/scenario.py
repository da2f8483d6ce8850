"""graph-blindness: graphs whose inside the trace does not show are said, and never called idle."""
from make_trace import Trace


def fires():
    """Five graph launches without any GPU record among six with ten kernels each; the first of these was over when its first
    kernel opened the window."""
    trace = Trace()
    host = trace.thread()
    for _ in range(5):
        host.graph(10, 20)
        host.call("cudaGraphLaunch", 20)
        host.work(300)
    host.graph(10, 20)
    return trace


def quiet():
    """Graphs recorded node by node."""
    trace = Trace()
    host = trace.thread()
    for _ in range(10):
        host.graph(100, 20)
    return trace


def loop_inside():
    """A public case (C086): a graph with a while node shows only its first turn. A turn of ten kernels of 20 us is on record,
    the synchronisation waits 20 ms for the other 99."""
    trace = Trace()
    host = trace.thread()
    host.graph(10, 20)
    host.call("cudaStreamSynchronize", 20000)
    host.graph(10, 20)
    return trace


EXPECT = {
    "fires": {"says": ["5 of 10", "may be work"]},
    "quiet": {"fires": False},
    "loop_inside": {"says": ["first turn"]},
}
