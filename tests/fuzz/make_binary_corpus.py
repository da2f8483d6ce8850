#!/usr/bin/env python3
"""Writes the seeds of fuzz_elf, fuzz_fatbin, fuzz_ptx and fuzz_zip into corpus/: small files made from the layouts in
docs/format/cubin.md, no byte of anyone else's. Usage: make_binary_corpus.py (from anywhere)"""
import io
import pathlib
import struct
import zipfile

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"


class Elf:
    """An ELF64 file: contents first, the section table last."""

    def __init__(self, os_abi, abi, kind, machine, flags):
        self.file = bytearray(b"\x7fELF\2\1\1" + bytes([os_abi, abi]) + bytes(7))
        self.file += struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 0, 0, flags, 64, 0, 0, 64, 0, 0)
        self.sections, self.names = [bytes(64)], bytearray(b"\0")

    def header(self, name, kind, flags=0, offset=64, size=0, link=0, info=0):
        self.sections.append(struct.pack("<IIQQQQIIQQ", len(self.names), kind, flags, 0, offset, size, link, info, 4, 0))
        self.names += name.encode() + b"\0"
        return len(self.sections) - 1

    def section(self, name, kind, data, link=0):
        offset = len(self.file)
        self.file += data
        return self.header(name, kind, 0, offset, len(data), link)

    def end(self):
        offset = len(self.file)
        index = self.header(".shstrtab", 3, 0, offset)
        self.sections[index] = self.sections[index][:32] + struct.pack("<Q", len(self.names)) + self.sections[index][40:]
        self.file += self.names
        struct.pack_into("<Q", self.file, 40, len(self.file))
        struct.pack_into("<HH", self.file, 60, len(self.sections), index)
        return bytes(self.file) + b"".join(self.sections)


def words(code, *values):
    return struct.pack("<BBH", 4, code, 4 * len(values)) + struct.pack(f"<{len(values)}I", *values)


def half(code, value):
    return struct.pack("<BBH", 3, code, value)


def cubin(sm, names, abi=8, kind=2):
    """Kernels with every record that is read, and the notes that tell the toolkit."""
    elf = Elf(0x41 if abi == 8 else 0x33, abi, kind, 190, 0x06000004 | sm << 8 if abi == 8 else 0x00500500 | sm)
    strings, symbols, info = b"\0", bytes(24), b""
    for i, name in enumerate(names, 1):
        text = elf.header(".text." + name, 1, 3 << 20 | 6, info=(20 + i) << 24)
        symbols += struct.pack("<IBBHQQ", len(strings), 0x12, 0x10, text, 0, 0)
        strings += name.encode() + b"\0"
        info += words(0x2f, i, 30 + i) + words(0x11, i, 8) + words(0x12, i, 16)
        elf.section(".nv.info." + name, 0x70000000,
                    words(0x37, 0x82) + words(0x05, 256, 1, 1) + words(0x10, 64, 2, 1) + half(0x1b, 168) +
                    b"\2\x4c\3\0" + words(0x3d, 2, 1, 1) + words(0x3f, 8) + b"\1\x3e\0\0\1\x54\0\0\1\x51\0\0\1\x5b\0\0" +
                    words(0x55, 1, 64, 1, 80) + half(0x4a, 128) + words(0xfe, 1))
        elf.header(".nv.shared." + name, 8, 3, 64, 1280, info=text)
    table = elf.section(".strtab", 3, strings)
    elf.section(".symtab", 2, symbols, table)
    elf.section(".symtab_shndx", 18, bytes(4 * len(symbols) // 24))
    elf.section(".nv.info", 0x70000000, info)
    elf.section(".nv.compat", 0x70000086, b"\2\x09\1\0\2\2\1\0")
    elf.section(".note.nv.tkinfo", 7, b"\x0c\0\0\0\x40\0\0\0\xd0\x07\0\0NVIDIA Corp\0release 13.0, V13.0.88\0-arch sm_%da \0" % sm)
    data = elf.end()
    return data + bytes(-len(data) % 8)


def entry(kind, sm, payload, flags=0, packed=0, unpacked=0, extra=0):
    payload += bytes(-len(payload) % 8)
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x0101, 64 + extra, len(payload), packed, 0, 8, 1, sm, 0, 0, flags, 0,
                       unpacked) + bytes(extra) + payload


def fatbin(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(body)) + body


def lz4(data):
    """One block of literals only."""
    n, lengths = len(data) - 15, b""
    while n >= 255:
        lengths, n = lengths + b"\xff", n - 255
    return b"\xf0" + lengths + bytes([n]) + data


def zstd(data):
    """One frame with one raw block and its size."""
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data)) + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def compressed(kind, sm, data, flag, pack):
    packed = pack(data)
    return entry(kind, sm, packed, flag, len(packed), len(data))


def archive(*members):
    data = b"!<arch>\n"
    for name, content in members:
        data += f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode() + content + b"\n" * (len(content) & 1)
    return data


def host(*sections):
    elf = Elf(0, 0, 3, 62, 0)
    for name, data in sections:
        elf.section(name, 1, data)
    return elf.end()


PTX = {
    "plain": b""".version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.shared .align 8 .v2 .f32 pair[4][2], one;
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.func (.param .b32 r) helper (.param .b32 x) ;
// a comment
.visible .entry kernel(.param .u64 p, .param .align 8 .b8 q[16])
.maxntid 256, 1, 1
.minnctapersm 4
.maxnreg 64
{
	.reg .pred %p<2>;
	.shared .align 4 .b8 own[1028];
	.loc 1 20 5, function_name $L__s+4, inlined_at 1 7 3
	@!%p1 bar.sync 0x3, 64;
	ld.shared.v2.f32 {%f1, %f2}, [pair+8];
	mov.u32 %r1, dyn;
	{ .param .b32 q0; call.uni (q0), helper, (q0); }
	call (r), %rd1, (a), proto;
$L__BB0_2:
	barrier.cluster.arrive;
	.pragma "nounroll;}";
	ret;
}
.func (.param .b32 r) helper (.param .b32 x) { setmaxnreg.dec.sync.aligned.u32 40; bar.red.popc.u32 %r1, %r2, %p1;
 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r1], 128; ret; }
""",
    "bounds": b".version 8.2 .target sm_80 .entry k() .reqntid 010, 2 .reqnctapercluster 2, 1, 1 .explicitcluster "
              b".maxclusterrank 8 .blocksareclusters { /* empty */ ret; }\n.global .u64 t[2] = {k, 0};\n",
    "debug": b".version 9.0\n.target sm_120f, debug\n.entry k(){ ret; }\n.section .debug_abbrev\n{\n.b8 1,17\n.b8 0\n}\n",
}


def wheel(*members, method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in members:
            z.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def seeds():
    small, more = cubin(80, ["k"]), cubin(90, ["_Z1kv", "second"])
    whole = fatbin(entry(2, 80, small), entry(1, 90, PTX["bounds"], extra=8), entry(8, 90, b"LTO-IR  "))
    yield "elf", "cubin_abi8", more
    yield "elf", "cubin_abi7", cubin(0x4b, ["k"], abi=7)
    yield "elf", "cubin_relocatable", cubin(120, ["k"], kind=1)
    yield "elf", "host", host((".text", b"\x50\xed\x55\xba"), (".nv_fatbin", whole), (".ldata", b"x" + whole))
    yield "fatbin", "raw", whole
    yield "fatbin", "lz4", fatbin(compressed(2, 80, small, 0x2000, lz4), compressed(1, 90, PTX["plain"], 0x2000, lz4))
    yield "fatbin", "zstd", fatbin(compressed(2, 80, small, 0x108000, zstd), compressed(1, 90, PTX["plain"], 0x8000, zstd))
    yield "fatbin", "unknown_kinds", fatbin(entry(64, 90, b"12345678"), entry(99, 1, b"")) + fatbin()
    yield "fatbin", "archive", archive(("/", b"sym"), ("//", b"long_name.o/\n"), ("/0", whole), ("#1/4", b"b.o\0" + whole),
                                       ("c.ptx/", PTX["bounds"]))
    for name, text in PTX.items():
        yield "ptx", name, text
    yield "zip", "deflated", wheel(("p/", b""), ("p/a.so", small), ("p/b.txt", b"text"), method=zipfile.ZIP_DEFLATED)
    yield "zip", "stored", wheel(("k.ptx", PTX["bounds"]), ("f.fatbin", whole), method=zipfile.ZIP_STORED)


for reader, name, data in seeds():
    folder = CORPUS / reader
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
