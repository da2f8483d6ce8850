"""Compares a recording with the truth of the stand-ins: every kernel, copy, byte and call, once, in order."""
import recorded

# Calls that a recording needs, and some that it must leave out: recording every call is what costs.
CHOSEN = {"cudaLaunchKernel", "cudaMemcpy", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaMalloc", "cudaFree",
          "cudaMallocHost", "cudaFreeHost", "cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventRecord",
          "cudaEventSynchronize", "cudaStreamWaitEvent", "cudaGraphInstantiate", "cudaGraphLaunch",
          "cudaProfilerStart", "cudaProfilerStop"}
LEFT_OUT = {"cudaGetDeviceCount", "cudaSetDevice", "cudaStreamCreateWithFlags", "cudaStreamDestroy",
            "cudaEventCreate", "cudaEventDestroy", "cudaStreamBeginCapture", "cudaStreamEndCapture"}

# The clocks' own error stands in the file; this is for a division and a rounding.
ROUNDING_NS = 2


def kernel_of_truth(t):
    return (t.correlation, t.device, t.context, t.stream, t.name, tuple(t.grid), tuple(t.block), t.smem_static,
            t.smem_dynamic, t.registers, t.node, t.graph)


def kernel_of_record(r):
    return (r.correlation, r.device, r.context, r.stream, r.name, (r.gx, r.gy, r.gz), (r.bx, r.by, r.bz),
            r.smem_static, r.smem_dynamic, r.registers, r.node, r.graph)


def copy_of(x):
    return x.correlation, x.device, x.context, x.stream, x.bytes, x.direction, x.src, x.dst, bool(x.is_async)


class Contents(recorded.TestCase):
    def assert_times(self, file, records, truths, more_ns=ROUNDING_NS):
        """The same, in CLOCK_MONOTONIC, within the error that the file's clock records leave."""
        for record, truth in zip(records, truths):
            for name in "start", "end":
                mono, error = file.to_mono(record[name])
                self.assertLessEqual(abs(mono - truth[name]), error + more_ns,
                                     f"{name} of {record} is {mono - truth[name]} ns off")

    def assert_kernels(self, file, truth, graphs_as_a_whole=True):
        expected = [t for t in truth if t.what == "kernel" and not (t.node and graphs_as_a_whole)]
        found = file.of("kernel")
        self.assertEqual([kernel_of_record(r) for r in found], [kernel_of_truth(t) for t in expected])
        self.assert_times(file, found, expected)
        self.assertEqual({r.smem_executed for r in found} - {102400}, set())
        self.assertEqual({(r.cx, r.cy, r.cz) for r in found} - {(2, 1, 1)}, set())

    def assert_copies(self, file, truth):
        for what in "copy", "memset":
            expected = [t for t in truth if t.what == what]
            found = file.of(what)
            if what == "copy":
                self.assertEqual([copy_of(r) for r in found], [copy_of(t) for t in expected])
            else:
                self.assertEqual([(r.correlation, r.bytes, r.memory, r.stream) for r in found],
                                 [(t.correlation, t.bytes, t.dst, t.stream) for t in expected])
            self.assert_times(file, found, expected)

    def assert_calls(self, file, truth):
        """Those of the runtime: the chosen ones, each once, with thread, result and times; no others."""
        expected = [t for t in truth if t.what == "call" and t.domain == "runtime"]
        self.assertLessEqual({t.name for t in expected}, CHOSEN | LEFT_OUT)
        expected = sorted((t for t in expected if t.name in CHOSEN), key=lambda t: t.correlation)
        found = sorted((r for r in file.of("call") if not r.is_driver), key=lambda r: r.correlation)
        self.assertEqual([(r.correlation, r.name, r.tid, r.result) for r in found],
                         [(t.correlation, t.name, t.tid, t.result) for t in expected])
        self.assert_times(file, found, expected)

    def assert_syncs(self, file, truth):
        expected = [t for t in truth if t.what == "sync"]
        found = file.of("sync")
        self.assertEqual([(r.correlation, r.type, r.context, r.event) for r in found],
                         [(t.correlation, t.type, t.context, t.event) for t in expected])
        self.assert_times(file, found, expected)

    def assert_memory(self, file, truth):
        expected = [t for t in truth if t.what == "memory"]
        found = file.of("allocation")
        self.assertEqual([(r.address, r.bytes if not r.is_free else 0, r.memory, r.is_free) for r in found],
                         [(t.address, t.bytes, t.dst, t.is_free) for t in expected])

    def assert_whole(self, file):
        """Ended in order, nothing lost, and its times can be understood."""
        self.assertEqual(len(file.info("ended")), 1)
        self.assertEqual(file.records[-1].get("key"), "ended")
        self.assertEqual((file.of("loss"), file.torn), ([], 0))
        self.assertGreaterEqual(len(file.of("clock")), 1)

    def assert_recorded(self, run, **how):
        file, truth = run.only(), run.truth()
        self.assert_whole(file)
        self.assert_kernels(file, truth, **how)
        self.assert_copies(file, truth)
        self.assert_calls(file, truth)
        self.assert_syncs(file, truth)
        self.assert_memory(file, truth)
        return file, truth

    def check(self, *command, **settings):
        run = self.run_program(*command, **settings)
        self.assert_ok(run)
        self.assert_unchanged(run, *command)
        return self.assert_recorded(run)
