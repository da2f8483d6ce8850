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


def item_every_step():
    """Public cases (C018, C024): the loss is read back in every step, once inside an f-string of a log call that is off. Twenty
    steps of 10 kernels of 100 us and 300 us of host work; .item() copies 4 bytes in 1 us and waits. Idle after each of 19
    waits: 2 us of return, 300 us of work, 5 us of call, 2 us of way."""
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        with host.operator("aten::prepare"):
            host.work(300)
        for _ in range(10):
            host.launch("gemm", 100)
        host.item()
    return trace


def sync_and_launches():
    """A public case (C022): hundreds of read-backs a step among ten thousand tiny kernels; removing most of them gained 1.18
    times, since the launches were slow as well: neither explains it alone. Here 20 read-backs among 600 kernels of 8 us, 20 us
    of host for each. The bound must stay far below the cost: the host needs 20 us for every 8 us of the GPU."""
    trace = Trace()
    host = trace.thread()
    for i in range(600):
        with host.operator("aten::mul"):
            host.work(15)
            host.launch("mul", 8)
        if i % 30 == 29:
            host.item()
    return trace


def waits_on_the_gpu_side():
    """A public case (C108): cudaStreamWaitEvent makes a stream wait, not the host. No synchronisation."""
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        host.launch("gemm", 100)
        host.call("cudaStreamWaitEvent", 2)
    return trace


def waits_for_pinned_copies():
    """x.to(device) of page-locked memory without non_blocking: the copy is asynchronous, and PyTorch waits for it."""
    trace = Trace()
    host = trace.thread()
    for _ in range(20):
        with host.operator("aten::to"), host.operator("aten::copy_"):
            host.copy("HtoD", 1000000, 100, host="Pinned")
            host.sync(7)
        with host.operator("aten::conv2d"):
            host.work(200)
            host.launch("conv", 400)
    return trace


EXPECT = {
    "item_every_step": {"cost_us": 19 * 309, "says": ["a read-back such as .item()", "aten::_local_scalar_dense", "loss.detach()"]},
    "sync_and_launches": {"at_most_us": (0, 400), "says": [".item()"]},
    "waits_on_the_gpu_side": {"fires": False},
    "waits_for_pinned_copies": {"says": ["non_blocking=True"]},
    "fires": {"cost_us": 5871, "at_most_us": (5800, 5871), "says": ["cudaStreamSynchronize", "20 calls"]},
    "quiet": {"fires": False},
    "host_is_the_limit": {"cost_us": 323171, "at_most_us": (0, 2080), "says": ["gains at most"]},
}
