"""straggler: the rank that comes last has the shortest time in the collectives."""
from make_trace import Trace

REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def ranks(kernel_us, steps=10, shift_us=0):
    """Ranks that compute for kernel_us[r] a step and then meet in an all-reduce whose transfer takes 100 us."""
    last, made = max(kernel_us), []
    for rank, kernel in enumerate(kernel_us):
        trace = Trace(rank=rank, world=len(kernel_us), pid=100 + rank)
        host = trace.thread(at=shift_us * rank)
        for _ in range(steps):
            host.launch("gemm", kernel)
            host.launch(REDUCE, last - kernel + 100, grid=(16, 1, 1))
        made.append(trace)
    return made


def fires():
    """Rank 2 computes 1,500 us a step, the other three 1,000 us: they wait 500 us in each of ten all-reduces: 5,000 us."""
    return ranks([1000, 1000, 1500, 1000])


def quiet():
    """All compute alike."""
    return ranks([1000, 1000, 1000, 1000])


def clocks_apart():
    """A public case (C109): the ranks' clocks differ by 11.56 s. Durations tell who is late, so it does not matter."""
    return ranks([1000, 1000, 1500, 1000], shift_us=11560000)


def one_rank_only():
    """One rank's trace shows waiting, but not for whom."""
    return ranks([1000, 1500])[0]


EXPECT = {
    "fires": {"cost_us": 5000, "says": ["10 of 10 collectives of 4 GPUs", "compute"]},
    "quiet": {"fires": False},
    "clocks_apart": {"cost_us": 5000},
    "one_rank_only": {"unable": "other ranks"},
}
