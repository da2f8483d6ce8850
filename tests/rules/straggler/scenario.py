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


def jitter():
    """Two ranks that come last by 40 us in turn, the first in six steps of ten: 240 us and 160, of 11,400."""
    made = []
    for rank in range(2):
        trace = Trace(rank=rank, world=2, pid=100 + rank)
        host = trace.thread()
        for step in range(10):
            late = 40 if (step in (0, 2, 4, 6, 8, 9)) == (rank == 0) else 0
            host.launch("gemm", 1000 + late)
            host.launch(REDUCE, 140 - late, grid=(16, 1, 1))
        made.append(trace)
    return made


def warm_up_of_one():
    """The first rank takes 200 us longer in the first four steps. They are no warm-up of its own (1,300 us, later ones
    1,100: less than 1.2 times), but one of the second, which adds 40 us."""
    made = []
    for rank in range(2):
        trace = Trace(rank=rank, world=2, pid=100 + rank)
        host = trace.thread()
        for step in range(14):
            slow = 200 if step < 4 else 0
            with host.step(step):
                host.launch("gemm", 1000 + (0 if rank else slow))
                host.launch(REDUCE, 100 + (slow if rank else 0), grid=(16, 1, 1))
                host.launch("add", 41 if rank and slow else 1)
                host.sync()
        made.append(trace)
    return made


def one_rank_only():
    """One rank's trace shows waiting, but not for whom."""
    return ranks([1000, 1500])[0]


EXPECT = {
    "fires": {"cost_us": 5000, "says": ["10 of 10 collectives of 4 GPUs", "compute"]},
    "quiet": {"fires": False},
    "jitter": {"fires": False},
    "warm_up_of_one": {"fires": False, "arguments": []},
    "clocks_apart": {"cost_us": 5000},
    "one_rank_only": {"unable": "other ranks"},
}
