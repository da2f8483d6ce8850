"""one-time-costs: first calls, loading, compilation."""
from make_trace import Trace


def fires():
    """A public case (C054): the first use of a kernel takes 30 s, since the file has no code for this GPU and the driver
    compiles it. A memset of 1 us before it opens the window; then the call of 30 s, and ten kernels. The memset ends 3 us
    after its call: 29,999,997 us are idle inside the loading call, minus nothing else."""
    trace = Trace()
    host = trace.thread()
    host.memset(4, 1)
    host.call("cuModuleLoadData", 30000000)
    for _ in range(10):
        host.launch("gemm", 100)
    return trace


def quiet():
    """The same kernels without a first call."""
    trace = Trace()
    host = trace.thread()
    for _ in range(100):
        host.launch("gemm", 100)
    return trace


def recompiles():
    """A public case (C052): requests of new shapes recompile, spikes of 600 ms between steps of 10 ms. Five compilations of
    600 ms each, the GPU idle meanwhile but for the kernel of the step before (10 ms, from 2 us after its call on): of
    each 600,000 us, 600,000 - 10,002 us. The first kernel comes after the first compilation: four gaps."""
    trace = Trace()
    host = trace.thread()
    for shape in range(5):
        with host.operator("entire_frame_compile (dynamo_timed)"):
            host.work(600000)
        host.launch(f"triton_poi_fused_{shape}", 10000)
    return trace


EXPECT = {
    "fires": {"cost_us": 29999997, "first": True, "says": ["cuModuleLoadData", "Warm up"]},
    "quiet": {"fires": False},
    "recompiles": {"cost_us": 4 * 589998, "says": ["compiled 5 times", "dynamic=True"]},
}
