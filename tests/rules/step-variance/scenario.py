"""step-variance: some steps take much longer than the others."""
from make_trace import Trace


def loop(steps, slow, name, mark=True):
    """A kernel of 1,000 us a step; steps of `slow` have 5,000 us of host work before it."""
    trace = Trace()
    host = trace.thread()
    for i in range(steps):
        def step():
            if i in slow:
                with host.python(name):
                    host.work(5000)
            host.launch("gemm", 1000)
            host.sync()
        if mark:
            with host.step(i):
                step()
        else:
            step()
    return trace


def fires():
    """A public case (C073): gc.collect() after each epoch was in 55 % of the stack samples. Twenty steps, three of them with
    5,000 us of it, during which the GPU is idle. A usual step has 2 + 5 + 2 us of idle time; the slow steps have
    5,000 us each beyond it: 15,000 us, all of it in host-python. The last step has no known end."""
    return loop(20, {4, 9, 14}, "gc.collect")


def quiet():
    """All steps alike."""
    return loop(20, set(), "")


def no_marks():
    """Without step marks and loader waits, steps are not known."""
    return loop(20, {4, 9, 14}, "gc.collect", mark=False)


def longer_inputs():
    """Steps in which the GPU works longer are no loss."""
    trace = Trace()
    host = trace.thread()
    for i in range(20):
        with host.step(i):
            host.launch("gemm", 5000 if i in (4, 9, 14) else 1000)
            host.sync()
    return trace


EXPECT = {
    "fires": {"cost_us": 15000, "tolerance": 0.01, "says": ["host-python", "every 5 steps", "gc"]},
    "quiet": {"fires": False},
    "no_marks": {"unable": "marked steps"},
    "longer_inputs": {"fires": False},
}
