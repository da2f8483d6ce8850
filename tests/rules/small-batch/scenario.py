"""small-batch: each step brings too little work."""
from make_trace import Trace

SMALL = (8, 1, 1)


def loop(grid, copy_us=0):
    trace = Trace()
    host = trace.thread()
    for _ in range(50):
        if copy_us:
            host.copy("HtoD", 1000000, copy_us)
        for _ in range(4):
            with host.operator("aten::mm"):
                host.work(40)
                host.launch("gemm", 10, grid=grid)
    return trace


def fires():
    """Two hundred kernels of 10 us with 8 blocks each, one every 45 us: 40 us of operator, 5 us of call. Each ends 12 us after
    its call: 28 us of operator, 5 us of call and 2 us of way are idle, 199 times 35 us = 6,965 us. Twice the batch halves
    it: 3,482 us."""
    return loop(SMALL)


def quiet():
    """Grids that fill the GPU: a larger batch would lengthen the kernels as well."""
    return loop((4096, 1, 1))


def copies_are_the_limit():
    """A public case (C032): utilisation stayed the same with larger batches, since the inputs were large and their copies
    slow. A copy of 2 ms in each step grows with the batch."""
    return loop(SMALL, copy_us=2000)


EXPECT = {
    "fires": {"cost_us": 3482, "says": ["100 % of the computing time", "profile_memory=True"]},
    "quiet": {"fires": False},
    "copies_are_the_limit": {"fires": False},
}
