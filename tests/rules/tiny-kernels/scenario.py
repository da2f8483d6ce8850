"""tiny-kernels: runs of short elementwise kernels."""
from make_trace import Trace

ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int, float)"


def loop(kernel_us):
    trace = Trace()
    host = trace.thread()
    for _ in range(50):
        for _ in range(8):
            host.launch(ADD, kernel_us)
        host.launch("sgemm", 200)
    return trace


def fires():
    """Fifty times 8 elementwise kernels of 4 us, launched every 5 us, then a matrix product of 200 us. The product of the round
    before still runs when a round's kernels are launched (9 calls take 45 us), so they queue and run back to back: no
    gaps but in the first round, whose kernels start every 5 us and leave 7 gaps of 1 us. One kernel of 4 us would be left
    of each run: 50 x 7 x 4 us + 7 us = 1,407 us."""
    return loop(4)


def quiet():
    """Elementwise kernels of 30 us are not tiny: their time is the memory's."""
    return loop(30)


EXPECT = {
    "fires": {"cost_us": 1407, "says": ["50, 400 kernels", "torch.compile", "CUDAFunctor_add"]},
    "quiet": {"fires": False},
}
