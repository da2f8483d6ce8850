"""Writes files of a recording from a few lines of Python: struct and zlib, nothing of fullwarp.

The layout is that of docs/format/recording.md, written down a second time, so that tests of the
reader have a source of bytes that is not the C writer.

    rec = File("process", pid=100)
    rec.clock(mono=1_000_000, cupti=5_000_000)
    rec.kernel(start=5_000_100, end=5_000_200, corr=1, name="k")
    rec.write("process-100-0.fwr")

As a program: make_recording.py SCENARIO FOLDER writes one of the scenarios at the end of this file.
"""
import pathlib
import struct
import sys
import zlib

KINDS = {"process": 1, "counters": 2, "host": 3, "python": 4}
RANGES = {"nvtx": 0, "input": 1, "step": 2, "optimizer": 3, "compile": 4, "call-site": 5, "mark": 6}
LOSSES = {"dropped-gpu": 0, "dropped-host": 1, "paused": 2, "other-profiler": 3, "size": 4, "disk": 5}
INFO = {name: i + 1 for i, name in enumerate(
    "host command process-name rank world-size cupti driver graph-nodes selected cannot source "
    "source-why torch ended".split())}
PAGEABLE, PINNED, DEVICE = 1, 2, 3
HTOD, DTOH = 1, 2
UNKNOWN = 0xffffffff
BOOT, UUID = bytes(range(1, 17)), bytes(range(16))
# Unix time and CLOCK_MONOTONIC at the start of every file, unless told otherwise.
REALTIME, MONO = 1_700_000_000_000_000_000, 10_000_000_000


def padded(data):
    return data + bytes(-len(data) % 8)


class File:
    """Records are gathered into a chunk until flush(); write() ends the file."""

    def __init__(self, kind, pid, mono=MONO, realtime=None, boot=BOOT, version=1):
        realtime = REALTIME + mono - MONO if realtime is None else realtime
        head = struct.pack("<8sHHIqq16s12x", b"FWREC\r\n\x1a", version, KINDS.get(kind, kind), pid,
                           mono, realtime, boot)
        self.out = bytearray(head + struct.pack("<I", zlib.crc32(head)))
        self.payload = bytearray()
        self.sequence = 0
        self.names = {}
        self.chunks = []  # where each chunk begins

    def record(self, kind, extra, fmt="", *values):
        body = padded(struct.pack("<" + fmt, *values))
        self.payload += struct.pack("<HHI", kind, 8 + len(body), extra) + body

    def name(self, text):
        """The id of a name, which is written before its first use."""
        if text is None:
            return 0
        if text not in self.names:
            data = text.encode("utf-8", "surrogateescape")
            self.names[text] = len(self.names) + 1
            self.record(1, self.names[text], f"II{len(data)}s", len(data), 0, data)
        return self.names[text]

    def flush(self, packer=None):
        """Ends the chunk; packer compresses it."""
        if not self.payload:
            return
        raw = bytes(self.payload)
        stored = packer(raw) if packer else raw
        head = struct.pack("<IIIIH6xI", 0x48435746, len(stored), len(raw), self.sequence,
                           1 if packer else 0, 0)
        head += struct.pack("<I", zlib.crc32(stored, zlib.crc32(head)))
        self.chunks.append(len(self.out))
        self.out += padded(head + stored)
        self.sequence += 1
        self.payload.clear()

    def content(self):
        self.flush()
        return bytes(self.out)

    def write(self, path, ended=True):
        if ended:
            self.info("ended", value=MONO)
        pathlib.Path(path).write_bytes(self.content())

    def info(self, key, text=None, value=0):
        self.record(2, INFO[key], "IIq", self.name(text), 0, value)

    def clock(self, mono, cupti, width=200, realtime=0):
        """Readings of CLOCK_MONOTONIC width apart, around `mono`."""
        self.record(3, 0, "qqQq", mono - width // 2, mono + width // 2, cupti, realtime)

    def device(self, number=0, uuid=UUID, name="NVIDIA H200", cc=90, sms=132,
               memory=150 << 30):
        self.record(5, number, "16sIiiIq", uuid, self.name(name), cc, sms, 0, memory)

    def thread(self, tid, name, pid=0):
        self.record(6, tid, "II", self.name(name), pid)

    def kernel(self, start, end, corr, name="kernel", device=0, stream=7, grid=(264, 1, 1),
               block=(256, 1, 1), graph=0, node=0, registers=32, smem=(0, 0), cluster=(0, 0, 0)):
        self.record(7, corr, "QQQIIIII3i3iiiiiH3H", start, end, node, graph, device, 1, stream,
                    self.name(name), *grid, *block, *smem, -1, -1, registers, *cluster)

    def copy(self, start, end, corr, size, direction=HTOD, src=PAGEABLE, dst=DEVICE, is_async=1,
             device=0, stream=7):
        self.record(8, corr, "QQQQIIIIBBBBIII", start, end, size, 0, 0, device, 1, stream,
                    direction, src, dst, is_async, device, device, 0)

    def memset(self, start, end, corr, size, device=0, stream=7):
        self.record(9, corr, "QQQQIIIIBB6x", start, end, size, 0, 0, device, 1, stream, DEVICE, 1)

    def graph(self, start, end, corr, graph, device=0, stream=7):
        self.record(10, corr, "QQIIII", start, end, graph, device, 1, stream)

    def sync(self, start, end, corr, kind, stream=UNKNOWN, event=0, event_sync=0, device=0):
        self.record(11, corr, "QQQIIIIII", start, end, event_sync, event, 1, stream, device, kind, 0)

    def event(self, corr, event, event_sync=0, device=0, stream=7):
        self.record(12, corr, "QQIIII", event_sync, 0, event, device, 1, stream)

    def call(self, start, end, corr, name="cudaLaunchKernel", tid=100, driver=0):
        self.record(13, corr, "QQIIiB3x", start, end, self.name(name), tid, 0, driver)

    def allocation(self, time, corr, size, is_free=0, device=0, memory=DEVICE):
        self.record(14, corr, "QQQIBBBB", time, 0x7000, size, device, memory, is_free, 0, 0)

    def overhead(self, start, end, tid=0, kind=2):
        self.record(16, kind, "QQII", start, end, tid, 0)

    def stream(self, number, priority=0, flags=2, device=0):
        self.record(18, number, "IiII", 1, priority, flags, device)

    def range(self, start, end, kind, name, tid=100):
        self.record(19, RANGES[kind], "qqIIII", start, end, self.name(name), 0, tid, 0)

    def loss(self, start, end, why, count=0xffffffffffffffff):
        self.record(20, LOSSES[why], "qqQ", start, end, count)

    def counter(self, start, end, name, value, source="pm-sampling", device=0):
        self.record(21, device, "qqdII", start, end, value, self.name(name), self.name(source))

    def host(self, time, name, value, pid=0, tid=0):
        self.record(22, tid, "qdII", time, value, pid, self.name(name))

    def switch(self, start, end, pid, tid, runnable=0):
        self.record(23, tid, "qqII", start, end, pid, runnable)

    def loader(self, time, number=0, workers=2, prefetch=2, batch=32, pin=0, persistent=0):
        self.record(24, number, "qiiiBB2x", time, workers, prefetch, batch, pin, persistent)


CUPTI = 3_000_000_000_000  # what the scenarios' CUPTI clock shows at MONO


def small(folder):
    """One process whose ledger is calculated by hand in tests/cli/report-recording/cmd; us from MONO."""
    def gpu(us):
        return CUPTI + us * 1000

    def host(us):
        return MONO + us * 1000

    rec = File("process", 100)
    rec.info("host", "node1")
    rec.info("rank", value=0)
    rec.info("world-size", value=1)
    rec.device()
    rec.thread(100, "python")
    rec.clock(MONO, CUPTI)
    for corr, call, op in ((1, (10, 20), (25, 125)), (2, (172, 178), (180, 280)),
                           (3, (350, 355), (357, 400)), (4, (430, 435), (437, 500)),
                           (5, (610, 615), (617, 700))):
        rec.call(gpu(call[0]), gpu(call[1]), corr)
        rec.kernel(gpu(op[0]), gpu(op[1]), corr, name="_Z6squarePfi")
    rec.flush()
    rec.call(gpu(705), gpu(712), 7, "cudaStreamSynchronize")
    rec.sync(gpu(706), gpu(711), 7, 3, stream=7)
    rec.call(gpu(720), gpu(760), 6, "cudaMemcpy")
    rec.copy(gpu(730), gpu(750), 6, 4096, DTOH, DEVICE, PAGEABLE, is_async=0)
    rec.loss(host(510), host(600), "paused")
    rec.clock(MONO + 1_000_000, CUPTI + 1_000_000)
    rec.write(folder / "process-100-0.fwr")
    shim = File("python", 100, MONO - 5_000_000)
    shim.loader(host(1))
    shim.range(host(130), host(170), "input", "DataLoader wait")
    shim.range(host(290), host(340), "compile", "torch.compile")
    shim.range(host(704), host(714), "call-site", "train.py:12 .item()")
    shim.write(folder / "python-100-0.fwr")
    samples = File("host", 99, MONO - 9_000_000)
    samples.thread(100, "trainer", pid=100)
    samples.loss(host(0), host(300), "dropped-host", 5)
    samples.switch(host(405), host(425), 100, 100, runnable=1)
    samples.host(host(100), "rss_bytes", 1e9, pid=100)
    samples.info("host", "node1")
    samples.host(host(100), "cpu_percent", 50, pid=101)
    samples.host(host(200), "cpu_percent", 70, pid=100, tid=100)
    samples.host(host(200), "memory_pressure_percent", 1.5)
    samples.host(host(-9000), "memory_pressure_percent", 2.5)
    samples.write(folder / "host.fwr")
    counters = File("counters", 99, MONO - 9_000_000)
    counters.device(number=3)
    counters.counter(host(100), host(200), "sm_busy_percent", 40, device=3)
    counters.write(folder / "counters.fwr")
    (folder / "meta.json").write_text("{}\n")


def hosts(folder):
    """Two machines, each with its own monotonic clock; the second starts 500 us of Unix time later."""
    for number, (mono, realtime) in enumerate(((MONO, REALTIME), (77_000_000_000, REALTIME + 500_000))):
        rec = File("process", 100, mono, realtime, boot=bytes([number + 1]) * 16)
        rec.info("host", f"node{number}")
        rec.info("rank", value=number)
        rec.info("world-size", value=2)
        rec.device(uuid=bytes([number + 1]) * 16)
        rec.clock(mono, CUPTI, width=4_000 * (number + 1))
        rec.call(CUPTI, CUPTI + 5_000, 1)
        rec.kernel(CUPTI + 10_000, CUPTI + 60_000, 1)
        rec.call(CUPTI + 70_000, CUPTI + 75_000, 2)
        rec.kernel(CUPTI + 80_000, CUPTI + 110_000, 2, name="ncclDevKernel_AllReduce")
        (folder / f"node{number}").mkdir(exist_ok=True)
        rec.write(folder / f"node{number}" / "process-100-0.fwr")


def restarts(folder):
    """Process 100 starts another program (exec) after 5 ms: two files each of CUDA and of Python, one number.

    In each program the GPU waits 100 us: 40 for the loader, 20 with the thread off its CPU, 30 for
    something else, 10 for the launch.
    """
    samples = File("host", 99, MONO - 1_000_000)
    for number in range(2):
        at = number * 5_000_000
        shim = File("python", 100, MONO + at)
        at += 1_000_000  # CUDA starts 1 ms after the interpreter
        shim.range(MONO + at + 110_000, MONO + at + 150_000, "input", "DataLoader wait")
        shim.write(folder / f"python-100-{number}.fwr")
        rec = File("process", 100, MONO + at)
        rec.device()
        rec.clock(MONO, CUPTI)
        rec.call(CUPTI + at, CUPTI + at + 5_000, 1)
        rec.kernel(CUPTI + at + 10_000, CUPTI + at + 100_000, 1)
        rec.call(CUPTI + at + 190_000, CUPTI + at + 195_000, 2)
        rec.kernel(CUPTI + at + 200_000, CUPTI + at + 300_000, 2)
        rec.write(folder / f"process-100-{number}.fwr")
        samples.switch(MONO + at + 160_000, MONO + at + 180_000, 100, 100)
        samples.host(MONO + at, "rss_bytes", 1e9, pid=100)
    samples.host(MONO, "rss_bytes", 1e8, pid=101)
    samples.write(folder / "host.fwr")


def steps(folder):
    """Six steps marked by the shim, 1 ms each but the first, which takes 3; a kernel of 400 us in each."""
    rec, shim = File("process", 100), File("python", 100, MONO - 1)
    rec.device()
    rec.clock(MONO, CUPTI)
    start = 0
    for number in range(6):
        end = start + (3_000_000 if not number else 1_000_000)
        shim.range(MONO + start, MONO + end, "step", f"step {number}")
        rec.call(CUPTI + start + 100_000, CUPTI + start + 105_000, number + 1)
        rec.kernel(CUPTI + start + 110_000, CUPTI + start + 510_000, number + 1)
        start = end
    rec.write(folder / "process-100-0.fwr")
    shim.write(folder / "python-100-0.fwr")


def corpus(folder):
    """One file of each kind with every record; of process.fwr, tests/unit/test_recording.c knows the chunks."""
    rec = File("process", 100)
    for key in ("host", "command", "process-name", "cannot", "selected"):
        rec.info(key, key + " text")
    rec.device()
    rec.clock(MONO, CUPTI)
    rec.name("kernel")
    rec.name("cudaLaunchKernel")
    rec.flush()
    for i in range(4):
        at = CUPTI + i * 100_000
        rec.call(at, at + 5_000, i + 1)
        rec.kernel(at + 7_000, at + 50_000 + i, i + 1)
        rec.flush()
    rec.clock(MONO + 1_000_000, CUPTI + 1_000_000)
    rec.write(folder / "process.fwr")
    every = File("process", 100)
    every.clock(MONO, CUPTI)
    every.stream(7, -1)
    every.thread(100, "main")
    every.copy(CUPTI + 1, CUPTI + 2, 1, 10)
    every.memset(CUPTI + 3, CUPTI + 4, 2, 10)
    every.graph(CUPTI + 5, CUPTI + 6, 3, 9)
    every.call(CUPTI + 1, CUPTI + 2, 3, "cudaGraphLaunch")
    every.event(4, 5, 6)
    every.event(4, 9, 9, device=UNKNOWN)
    every.stream(8, device=UNKNOWN)
    every.info("selected", "big.*")
    every.kernel(CUPTI + 3, CUPTI + 4, 7, name="", grid=(0, 0, 0), block=(0, 0, 0))
    every.sync(CUPTI + 7, CUPTI + 8, 5, 1, event=5, event_sync=6)
    every.allocation(CUPTI + 9, 6, 100)
    every.overhead(CUPTI + 9, CUPTI + 10)
    every.record(15, 1, "QQII", MONO, 100, 1, 0)
    every.record(17, 1, "QII", 1, 2, 0)
    every.record(4, 0, "qqQ", MONO, MONO + 1, 1)
    every.record(99, 0, "Q", 1)
    every.loss(MONO, MONO + 5, "dropped-gpu", 3)
    every.name("\x01bad \udcff name")
    every.write(folder / "every.fwr")
    small(folder)
    (folder / "process-100-0.fwr").unlink()
    (folder / "meta.json").unlink()


SCENARIOS = {"small": small, "hosts": hosts, "restarts": restarts, "steps": steps, "corpus": corpus}

if __name__ == "__main__":
    target = pathlib.Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    SCENARIOS[sys.argv[1]](target)
