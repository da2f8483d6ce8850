#!/usr/bin/env python3
"""Reads a recording with nothing but docs/format/recording.md, struct and zlib: the tests' own eye on the files.

read_recording.py FOLDER-OR-FILE... prints what is in them, one record a line.
"""
import bisect
import os
import struct
import sys
import zlib

FILE = struct.Struct("<8sHHIqq16s3II")
CHUNK = struct.Struct("<IIIIH3HII")
FILE_MAGIC = b"FWREC\r\n\x1a"
CHUNK_MAGIC = 0x48435746
CHUNK_BYTES = 4 << 20
FILE_KINDS = {1: "process", 2: "counters", 3: "host", 4: "python"}

GPU = "start end "
# kind: name, what `extra` says, layout behind the head, its fields; x is a byte of padding.
RECORDS = {
    2: ("info", "key", "<I4xq", "text value"),
    3: ("clock", "", "<qqQq", "before after cupti realtime"),
    4: ("device_clock", "device", "<qqQ", "before after device_ns"),
    5: ("device", "device", "<16sIii4xq", "uuid name cc sms memory"),
    6: ("thread", "tid", "<I4x", "name"),
    7: ("kernel", "correlation", "<QQQIIIII6i4iH3H4x",
        GPU + "node graph device context stream name gx gy gz bx by bz smem_static smem_dynamic smem_executed "
        "local registers cx cy cz"),
    8: ("copy", "correlation", "<QQQQIIIIBBBBII4x",
        GPU + "bytes node graph device context stream direction src dst is_async src_device dst_device"),
    9: ("memset", "correlation", "<QQQQIIIIBB6x", GPU + "bytes node graph device context stream memory is_async"),
    10: ("graph", "correlation", "<QQIIII", GPU + "graph device context stream"),
    11: ("sync", "correlation", "<QQQIIIII4x", GPU + "event_sync event context stream device type"),
    12: ("event", "correlation", "<QQIIII", "event_sync device_ns event device context stream"),
    13: ("call", "correlation", "<QQIIiB3x", GPU + "name tid result is_driver"),
    14: ("allocation", "correlation", "<QQQIBBBx", "time address bytes device memory is_free is_async"),
    15: ("module", "module", "<QQI4x", "time bytes context"),
    16: ("overhead", "overhead_kind", "<QQI4x", GPU + "tid"),
    17: ("external", "correlation", "<QI4x", "external external_kind"),
    18: ("stream", "stream", "<IiII", "context priority flags device"),
    19: ("range", "range_kind", "<qqIII4x", GPU + "name domain tid"),
    20: ("loss", "reason", "<qqQ", GPU + "count"),
    21: ("counter", "device", "<qqdII", GPU + "value name source"),
    22: ("host", "tid", "<qdII", "time value pid name"),
    23: ("switch", "tid", "<qqII", GPU + "pid why"),
    24: ("loader", "loader", "<qiiiBB2x", "time workers prefetch batch pin_memory persistent"),
}
# Which fields are ids of strings.
STRINGS = {"info": ["text"], "device": ["name"], "thread": ["name"], "kernel": ["name"], "call": ["name"],
           "range": ["name", "domain"], "counter": ["name", "source"], "host": ["name"]}
INFO_KEYS = ["", "host", "command", "process_name", "rank", "world_size", "cupti_version", "driver_version",
             "graph_nodes", "selected", "cannot", "source", "source_why", "torch", "ended"]
LOSS_REASONS = ["dropped_gpu", "dropped_host", "paused", "other_profiler", "size", "disk"]


class Damage(Exception):
    """What does not agree with the format, and where."""


class Record(dict):
    """A record's fields as attributes."""
    __getattr__ = dict.__getitem__


class File:
    """One file: its header, its records in order, and how many bytes at its end are no whole chunk."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            data = file.read()
        self.bytes = len(data)
        self.records = []
        self.strings = {0: None}
        self.chunks = 0
        self.torn = 0
        self.pairs = None
        if len(data) < FILE.size:
            self.kind = None  # killed before the header was whole
            self.torn = len(data)
            return
        magic, version, kind, self.pid, self.start_mono, self.start_realtime, self.boot_id, *_, crc = \
            FILE.unpack_from(data)
        if magic != FILE_MAGIC or version != 1:
            raise Damage(f"{path}: not a recording of version 1")
        if crc != zlib.crc32(data[:FILE.size - 4]):
            raise Damage(f"{path}: the header's CRC is wrong")
        self.kind = FILE_KINDS[kind]
        at = FILE.size
        while at < len(data):
            next_at = self.read_chunk(data, at)
            if next_at is None:
                self.torn = len(data) - at
                break
            at = next_at

    def read_chunk(self, data, at):
        """The offset behind the chunk; None where the file ends inside it."""
        if len(data) - at < CHUNK.size:
            return None
        magic, stored, raw, sequence, compression, *_, crc = CHUNK.unpack_from(data, at)
        if magic != CHUNK_MAGIC:
            raise Damage(f"{self.path}: no chunk at {at}")
        if stored > CHUNK_BYTES or raw > CHUNK_BYTES:
            raise Damage(f"{self.path}: chunk at {at} of {stored}, {raw} bytes")
        payload = data[at + CHUNK.size:at + CHUNK.size + stored]
        end = at + CHUNK.size + (stored + 7) // 8 * 8
        if len(payload) < stored or end > len(data):
            return None
        if crc != zlib.crc32(payload, zlib.crc32(data[at:at + CHUNK.size - 4])):
            raise Damage(f"{self.path}: the CRC of the chunk at {at} is wrong")
        if any(data[at + CHUNK.size + stored:end]):
            raise Damage(f"{self.path}: padding of the chunk at {at} is not zero")
        if sequence != self.chunks:
            raise Damage(f"{self.path}: chunk {sequence} at {at}, not {self.chunks}")
        if compression:
            payload = unpack_zstd(payload, raw)
        if len(payload) != raw:
            raise Damage(f"{self.path}: {len(payload)} bytes in the chunk at {at}, not {raw}")
        self.chunks += 1
        self.read_records(payload, at)
        return end

    def read_records(self, payload, chunk):
        at = 0
        while at < len(payload):
            if len(payload) - at < 8:
                raise Damage(f"{self.path}: chunk at {chunk}: {len(payload) - at} bytes over")
            kind, size, extra = struct.unpack_from("<HHI", payload, at)
            if size < 8 or size % 8 or at + size > len(payload):
                raise Damage(f"{self.path}: chunk at {chunk}: record of kind {kind} with {size} bytes")
            self.take(kind, extra, payload[at + 8:at + size], chunk)
            at += size

    def take(self, kind, extra, body, chunk):
        where = f"{self.path}: chunk at {chunk}"
        if kind == 1:
            length, = struct.unpack_from("<I", body)
            text = body[8:8 + length]
            if len(text) != length or extra in self.strings or b"\0" in text or any(body[8 + length:]):
                raise Damage(f"{where}: string {extra} of {length} bytes")
            self.strings[extra] = text.decode("utf-8")
            return
        if kind not in RECORDS:
            raise Damage(f"{where}: a record of kind {kind}")
        name, extra_name, layout, fields = RECORDS[kind]
        if len(body) != struct.calcsize(layout):
            raise Damage(f"{where}: {name} of {len(body) + 8} bytes")
        record = Record(zip(fields.split(), struct.unpack(layout, body)))
        for field in STRINGS.get(name, []):
            if record[field] not in self.strings:
                raise Damage(f"{where}: {name} with string {record[field]} that is not there yet")
            record[field] = self.strings[record[field]]
        if extra_name:
            record[extra_name] = extra
        record["what"] = name
        if name == "info":
            record["key"] = INFO_KEYS[extra]
        if name == "loss":
            record["reason"] = LOSS_REASONS[extra]
        self.records.append(record)

    def of(self, what):
        return [r for r in self.records if r.what == what]

    def info(self, key):
        """The records of a fact about the file."""
        return [r for r in self.of("info") if r.key == key]

    def to_mono(self, cupti):
        """A time of CUPTI's, by the pairs around it: CLOCK_MONOTONIC in ns, and how wrong it may be. In integers:
        a double has no room for nanoseconds since 1970.
        """
        if self.pairs is None:
            self.pairs = sorted((c.cupti, (c.before + c.after) // 2, (c.after - c.before + 1) // 2)
                                for c in self.of("clock"))
        if not self.pairs:
            raise Damage(f"{self.path}: a time of CUPTI's and no clock record")
        i = bisect.bisect_right(self.pairs, (cupti, float("inf"), 0))
        before, after = self.pairs[max(i - 1, 0)], self.pairs[min(i, len(self.pairs) - 1)]
        if before[0] == after[0]:
            return before[1] + cupti - before[0], before[2]
        part = (cupti - before[0]) * (after[1] - before[1]) // (after[0] - before[0])
        return before[1] + part, max(before[2], after[2])


def unpack_zstd(payload, raw):
    """Through the library that Python lacks; a recording is packed when its process has ended."""
    import ctypes
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(raw)
    size = zstd.ZSTD_decompress(out, raw, payload, len(payload))
    return out.raw[:size] if size <= raw else b""


def read_folder(folder):
    """The files of a recording, in the order of their names."""
    return [File(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".fwr")]


def main():
    for path in sys.argv[1:]:
        for file in read_folder(path) if os.path.isdir(path) else [File(path)]:
            print(f"{file.path}: {file.kind}, {file.chunks} chunks, {file.torn} bytes torn off")
            for record in file.records:
                print("  " + " ".join(f"{key}={value}" for key, value in record.items()))


if __name__ == "__main__":
    main()
