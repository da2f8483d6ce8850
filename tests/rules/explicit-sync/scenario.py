"""explicit-sync: the program waits for the GPU and lets it run dry."""
from make_trace import Trace


def loop(steps, kernels, kernel_us, host_us, synchronise):
    trace = Trace()
    host = trace.thread()
    for _ in range(steps):
        with host.operator("aten::prepare"):
            host.work(host_us)
        for _ in range(kernels):
            with host.operator("aten::mm"):
                host.launch("gemm", kernel_us)
        if synchronise:
            host.sync(7)
    return trace


def fires():
    """Twenty steps of 10 kernels of 100 us, then a synchronisation, then 300 us of host work.
    The call returns 2 us after the last kernel; 300 us of work, 5 us of call and 2 us of way follow: the GPU is idle for
    309 us after each of the 19 synchronisations that something follows: 5,871 us. Without them the host (350 us a step)
    is faster than the GPU (1,000 us): all of it can be gained."""
    return loop(20, 10, 100, 300, synchronise=True)


def quiet():
    """The same without the synchronisations: the host runs ahead."""
    return loop(20, 10, 100, 300, synchronise=False)


def host_is_the_limit():
    """A public case (C020): 17 ms of host work and 0.1 ms of kernel a step, and a synchronisation. Removing it was expected
    to gain 85 % and gained 4 %. The GPU is idle 2 + 17,000 + 5 + 2 us after 19 of 20 synchronisations: 323,171 us; but the
    host is blocked only for 104 us a step (2 us of way, 100 us of kernel, 2 us of return), so at most 19 x 104 us = 1,976 us
    and the last 100 us can be gained: under 1 % of the window."""
    return loop(20, 1, 100, 17000, synchronise=True)


EXPECT = {
    "fires": {"cost_us": 5871, "at_most_us": (5800, 5871), "says": ["cudaStreamSynchronize", "20 calls"]},
    "quiet": {"fires": False},
    "host_is_the_limit": {"cost_us": 323171, "at_most_us": (0, 2080), "says": ["gains at most"]},
}
