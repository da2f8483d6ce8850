"""Reads a recording's folder on its own, from docs/format/recording.md and not with our reader: the second opinion
that the measurements on a GPU compare with."""
import bisect
import ctypes
import ctypes.util
import pathlib
import struct
import zlib

MAGIC = b"FWREC\r\n\x1a"
CHUNK_MAGIC = 0x48435746
FILE_HEADER, CHUNK_HEADER, RECORD_HEADER = 64, 32, 8
ZSTD = 1
STRING, INFO, CLOCK, DEVICE_CLOCK, DEVICE, THREAD, KERNEL, COPY, MEMSET, GRAPH, SYNC, EVENT, CALL = range(1, 14)
RANGE, LOSS, COUNTER, HOST = 19, 20, 21, 22
DIRECTIONS = {1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA", 8: "DtoD", 9: "HtoH",
              10: "PtoP"}
MEMORIES = {0: "Unknown", 1: "Pageable", 2: "Pinned", 3: "Device", 4: "Array", 5: "Managed", 6: "Device Static",
            7: "Managed Static"}
RANGES = ("nvtx", "input", "step", "optimizer", "compile", "call-site", "mark")
LOSSES = ("dropped-gpu", "dropped-host", "paused", "other-profiler", "size", "disk")
INFO_KEYS = {1: "host", 2: "command", 3: "process", 4: "rank", 5: "world_size", 6: "cupti", 7: "driver",
             8: "graph_nodes", 9: "selected", 10: "cannot", 11: "source", 12: "source_why", 13: "torch", 14: "ended"}

# The part of each record that is wanted, after its header of 8 bytes.
LAYOUTS = {
    INFO: struct.Struct("<IIq"), CLOCK: struct.Struct("<qqQq"), KERNEL: struct.Struct("<QQQIIIII6iiiiiH3H"),
    COPY: struct.Struct("<QQQQIIIIBBBBII"), MEMSET: struct.Struct("<QQQQIIIIBB"), GRAPH: struct.Struct("<QQIIII"),
    SYNC: struct.Struct("<QQQIIIII"), EVENT: struct.Struct("<QQIIII"), CALL: struct.Struct("<QQIIiB"),
    RANGE: struct.Struct("<qqIIII"), LOSS: struct.Struct("<qqQ"), COUNTER: struct.Struct("<qqdII"),
    HOST: struct.Struct("<qdII"), DEVICE: struct.Struct("<16sIiiIq"),
}


class ZstdMissing(Exception):
    pass


def load_zstd(libraries=()):
    """libzstd's decompressor: of the folders named, else the system's."""
    names = [str(p) for folder in libraries for p in sorted(pathlib.Path(folder).glob("libzstd.so*"))]
    for name in names + ["libzstd.so.1", ctypes.util.find_library("zstd")]:
        try:
            library = ctypes.CDLL(name) if name else None
        except OSError:
            continue
        if library:
            library.ZSTD_decompress.restype = ctypes.c_size_t
            library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
            return library
    raise ZstdMissing("libzstd is not found")


class Recording:
    """What all files of a folder hold; GPU records as plain tuples or dicts, times in ns of CLOCK_MONOTONIC."""

    def __init__(self, folder, libraries=()):
        self.folder, self.libraries, self.zstd = pathlib.Path(folder), libraries, None
        self.kernels, self.copies, self.memsets, self.graphs = [], [], [], []
        self.syncs, self.events, self.calls, self.ranges, self.losses = [], [], [], [], []
        self.counters, self.host, self.devices, self.infos = [], [], {}, []
        self.damaged = 0  # places where bytes were skipped
        self.files = sorted(self.folder.glob("*.fwr"))
        for path in self.files:
            self.read_file(path)
        self.kernels.sort()
        self.copies.sort()
        self.memsets.sort()

    def unpack(self, stored, size):
        if self.zstd is None:
            self.zstd = load_zstd(self.libraries)
        out = ctypes.create_string_buffer(max(size, 1))
        got = self.zstd.ZSTD_decompress(out, size, stored, len(stored))
        return out.raw[:size] if got == size else None

    def chunks(self, data):
        """The payloads of the whole chunks; what lies between is counted."""
        at, in_damage = FILE_HEADER, False
        while at + CHUNK_HEADER <= len(data):
            magic, stored, raw, _, packed, *_ = struct.unpack_from("<IIIIH", data, at)
            (crc,) = struct.unpack_from("<I", data, at + 28)
            payload = data[at + CHUNK_HEADER:at + CHUNK_HEADER + stored]
            whole = magic == CHUNK_MAGIC and len(payload) == stored and \
                zlib.crc32(payload, zlib.crc32(data[at:at + 28])) == crc
            if whole and packed == ZSTD:
                payload = self.unpack(payload, raw)
                whole = payload is not None
            if not whole:
                self.damaged += not in_damage
                in_damage = True
                at += 8
                continue
            in_damage = False
            yield payload
            at += CHUNK_HEADER + (stored + 7) // 8 * 8

    def read_file(self, path):
        data = path.read_bytes()
        if len(data) < FILE_HEADER or data[:8] != MAGIC:
            self.damaged += 1
            return
        (pid,) = struct.unpack_from("<I", data, 12)
        strings, raw = {0: ""}, []
        for payload in self.chunks(data):
            at = 0
            while at + RECORD_HEADER <= len(payload):
                kind, size, extra = struct.unpack_from("<HHI", payload, at)
                if size < RECORD_HEADER or at + size > len(payload):
                    self.damaged += 1
                    break
                if kind == STRING:
                    (length,) = struct.unpack_from("<I", payload, at + 8)
                    strings[extra] = payload[at + 16:at + 16 + length].decode(errors="replace")
                elif kind in LAYOUTS and size - RECORD_HEADER >= LAYOUTS[kind].size:
                    raw.append((kind, extra, LAYOUTS[kind].unpack_from(payload, at + 8)))
                at += size
        self.keep(pid, raw, strings)

    def keep(self, pid, raw, strings):
        clock = Clock([fields for kind, _, fields in raw if kind == CLOCK])
        for kind, extra, f in raw:
            if kind in KEEP:
                KEEP[kind](self, pid, extra, f, strings, clock)

    def keep_info(self, pid, extra, f, strings, _):
        self.infos.append((pid, INFO_KEYS.get(extra, extra), strings.get(f[0], ""), f[2]))

    def keep_device(self, pid, extra, f, strings, _):
        self.devices[pid, extra] = {"uuid": f[0].hex(), "name": strings.get(f[1], ""), "cc": f[2], "sms": f[3]}

    def keep_kernel(self, pid, extra, f, strings, clock):
        self.kernels.append((clock.mono(f[0]), clock.mono(f[1]), strings.get(f[7], ""), pid, f[4], f[6], f[1] - f[0], extra,
                             f[8:14]))

    def keep_copy(self, pid, _, f, __, clock):
        kind = f"{DIRECTIONS.get(f[8], f[8])} ({MEMORIES.get(f[9], f[9])} -> {MEMORIES.get(f[10], f[10])})"
        self.copies.append((clock.mono(f[0]), clock.mono(f[1]), kind, f[2], pid, f[5], f[7], f[1] - f[0]))

    def keep_memset(self, pid, _, f, __, clock):
        self.memsets.append((clock.mono(f[0]), clock.mono(f[1]), f[2], pid, f[5], f[7], f[1] - f[0]))

    def keep_graph(self, pid, _, f, __, clock):
        self.graphs.append((clock.mono(f[0]), clock.mono(f[1]), f[2], pid, f[3]))

    def keep_sync(self, pid, _, f, __, clock):
        self.syncs.append((clock.mono(f[0]), clock.mono(f[1]), f[7], pid))

    def keep_event(self, pid, _, f, __, ___):
        self.events.append((f[2], pid, f[5]))

    def keep_call(self, pid, extra, f, strings, clock):
        self.calls.append((clock.mono(f[0]), clock.mono(f[1]), strings.get(f[2], ""), pid, f[3], extra))

    def keep_range(self, pid, extra, f, strings, _):
        kind = RANGES[extra] if extra < len(RANGES) else str(extra)
        self.ranges.append((f[0], f[1], kind, strings.get(f[2], ""), pid))

    def keep_loss(self, pid, extra, f, _, __):
        self.losses.append((f[0], f[1], LOSSES[extra] if extra < len(LOSSES) else str(extra), f[2], pid))

    def keep_counter(self, _, extra, f, strings, __):
        self.counters.append((f[0], f[1], strings.get(f[3], ""), f[2], strings.get(f[4], ""), extra))

    def keep_host(self, _, extra, f, strings, __):
        self.host.append((f[0], strings.get(f[3], ""), f[1], f[2], extra))


KEEP = {INFO: Recording.keep_info, DEVICE: Recording.keep_device, KERNEL: Recording.keep_kernel,
        COPY: Recording.keep_copy, MEMSET: Recording.keep_memset, GRAPH: Recording.keep_graph,
        SYNC: Recording.keep_sync, EVENT: Recording.keep_event, CALL: Recording.keep_call,
        RANGE: Recording.keep_range, LOSS: Recording.keep_loss, COUNTER: Recording.keep_counter,
        HOST: Recording.keep_host}


class Clock:
    """CUPTI's time to CLOCK_MONOTONIC, by straight lines between the pairs of a file."""

    def __init__(self, pairs):
        both = sorted({cupti: (before + after) // 2 for before, after, cupti, _ in pairs}.items())
        self.cupti, self.offset = [c for c, _ in both], [m - c for c, m in both]

    def mono(self, cupti):
        if not self.cupti:
            return cupti
        at = bisect.bisect_right(self.cupti, cupti)
        if at in (0, len(self.cupti)):
            return cupti + self.offset[min(at, len(self.cupti) - 1)]
        a, b = self.cupti[at - 1], self.cupti[at]
        return cupti + self.offset[at - 1] + (self.offset[at] - self.offset[at - 1]) * (cupti - a) // (b - a)


def union_ns(intervals):
    """Length of the union of [start, end) intervals."""
    total, reach = 0, None
    for start, end in sorted(intervals):
        if reach is None or start > reach:
            total, reach = total + end - start, end
        elif end > reach:
            total, reach = total + end - reach, end
    return total
