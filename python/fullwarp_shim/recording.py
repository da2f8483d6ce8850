"""One process's marks as bytes of the recording's format (src/trace/recording.h), and the file they go to.

No thread: a mark that comes 100 ms after the last write takes what is pending along, so that whatever ends the process
loses 100 ms of marks at most, and fork meets nothing. No error leaves this module."""
import atexit
import fcntl
import os
import struct
import sys
import time
import _thread

from binascii import crc32

RANGE_INPUT, RANGE_STEP, RANGE_OPTIMIZER, RANGE_COMPILE, RANGE_CALL_SITE = 1, 2, 3, 4, 5
INFO_COMMAND, INFO_RANK, INFO_WORLD_SIZE, INFO_CANNOT, INFO_TORCH, INFO_ENDED = 2, 4, 5, 10, 13, 14
LOSS_DROPPED_HOST, LOSS_PAUSED, LOSS_SIZE, LOSS_DISK = 1, 2, 4, 5

_STRING, _INFO, _RANGE, _LOSS, _LOADER = 1, 2, 19, 20, 24
_FILE_PYTHON = 4
_VERSION = 1
_WANT_PAUSE, _WANT_RECORD, _WANT_STOP = 0, 1, 2

_FILE = struct.Struct("<8sHHIqq16s12x")  # then its CRC
_CHUNK = struct.Struct("<IIIIH6x4x")     # then its CRC
_STRING_RECORD = struct.Struct("<HHIII")
_INFO_RECORD = struct.Struct("<HHIIIq")
_RANGE_RECORD = struct.Struct("<HHIqqIIII")
_LOSS_RECORD = struct.Struct("<HHIqqQ")
_LOADER_RECORD = struct.Struct("<HHIqiiiBB2x")
_CONTROL = struct.Struct("<IIIi")
_CONTROL_MAGIC = 0x4c544346

FLUSH_NS = 100_000_000
RETRY_NS = 1_000_000_000  # after a write that failed
_LOOK_NS = 50_000_000     # between two looks at what the recorder wants
_PENDING_MARKS = 2048     # at most 100 bytes each: a chunk stays below 256 KiB
_LOST_MARKS = 1 << 16     # kept at most while they cannot be written
_NAME_BYTES = 1024
_NAMES = 4096             # remembered; further ones are written anew each time
_HIGH_FD = 900            # out of the way of programs that count on low numbers or close them all

now = time.monotonic_ns


def _find_thread_id():
    if hasattr(_thread, "get_native_id"):
        return _thread.get_native_id
    import ctypes  # Python 3.7 does not know it; PyTorch has loaded this already
    number = {"x86_64": 186, "aarch64": 178}[os.uname().machine]  # SYS_gettid
    syscall = ctypes.CDLL(None).syscall
    return lambda: syscall(number)


thread_id = _find_thread_id()


class Recording:
    """Marks of this process. Any thread; a child made by fork starts over with a file of its own."""

    def __init__(self, folder, options):
        self.folder = folder
        self.options = dict(part.partition("=")[::2] for part in options.split(";") if part)
        self.max_bytes = int(self.options.get("max_bytes") or 0)
        self.on_fork = []  # called in the child
        self.about = []    # records that every file of this process begins with
        self.steps = None
        self.is_compiling = None
        self._start_over()
        os.register_at_fork(after_in_child=self._forked)
        atexit.register(self.finish)

    def _start_over(self):
        self.off = False
        self.is_open = False
        self.lock = _thread.allocate_lock()
        self.pending = []
        self.written = 0      # time of the last write
        self.looked = 0       # time of the last look at the control file
        self.wanted = _WANT_RECORD
        self.paused_since = self.paused = 0
        self.failed_since = 0
        self.lost = 0
        self.dropped = 0
        self.next_loader = 0
        self.fd = self.control = -1
        self.identity = None
        self.size = 0
        self.sequence = 0
        self.names = {}
        self.next_name = 1

    def _forked(self):
        try:
            for fd in (self.fd, self.control):
                self._close(fd)
            self._start_over()
            for call in self.on_fork:
                call()
        except Exception:
            self.off = True

    def _close(self, fd):
        """Only if it is still ours: the program may have closed it, and its number may be another file's."""
        try:
            if fd >= 0 and (fd != self.fd or self._is_ours()):
                os.close(fd)
        except OSError:
            pass

    def mark(self, kind, start, end, name):
        """A range of the calling thread, in ns of CLOCK_MONOTONIC."""
        if self.off:
            return
        try:
            pending = self.pending
            pending.append((_encode_range, kind, start, end, name, thread_id()))
            if end - self.written >= FLUSH_NS or len(pending) >= _PENDING_MARKS:
                self.flush(end)
                if len(pending) > _LOST_MARKS:  # another thread hangs in its write
                    self.dropped += len(pending) - _PENDING_MARKS
                    del pending[_PENDING_MARKS:]
        except Exception:
            pass

    def loader(self, number, settings):
        """A data loader was made: workers, prefetch, batch (-1: none), pin_memory, persistent."""
        self.pending.append((_encode_loader, number, now(), settings))

    def info(self, key, text="", value=0):
        """Stands at the beginning of every file of this process, and of its children made by fork."""
        self.about.append((_encode_info, key, text, value))
        if self.is_open:
            self.pending.append(self.about[-1])

    def cannot(self, text):
        self.info(INFO_CANNOT, text)

    def open(self):
        """Makes the file, before there are marks."""
        self.flush(now())

    def flush(self, time_ns):
        if not self.lock.acquire(False):
            return
        try:
            self._flush(time_ns)
        except Exception:
            self.off = True
        finally:
            self.lock.release()

    def finish(self):
        """The orderly end; nothing is written after it."""
        if self.off or not self.lock.acquire(False):
            return
        try:
            if self.is_open and self.wanted != _WANT_STOP:
                self.failed_since = 0
                self._flush(now(), ended=True)
        except Exception:
            pass
        finally:
            self.off = True
            self.lock.release()

    def _flush(self, time_ns, ended=False):
        self.written = time_ns
        if not self.is_open and not self._begin(time_ns):
            return
        marks = self.pending[:_LOST_MARKS]
        del self.pending[:len(marks)]
        before = self.wanted
        self._look(time_ns)
        is_last = ended or self.wanted == _WANT_STOP
        if before == _WANT_PAUSE:
            self.paused += len(marks)
            marks = []
            if self.wanted == _WANT_RECORD or is_last:
                marks.append((_encode_loss, LOSS_PAUSED, self.paused_since, time_ns, self.paused))
                self.paused = 0
        elif self.wanted == _WANT_PAUSE:
            self.paused_since = time_ns
        if self.dropped:
            marks.append((_encode_loss, LOSS_DROPPED_HOST, time_ns, time_ns, self.dropped))
            self.dropped = 0
        if is_last:
            marks.append((_encode_info, INFO_ENDED, "", now()))
        if self.failed_since and time_ns - self.failed_since < RETRY_NS:
            self.lost += len(marks)
        elif marks:
            self._write(marks, time_ns)
        self.off = self.off or self.wanted == _WANT_STOP

    def _write(self, marks, time_ns):
        """Marks -> one or more chunks; what cannot be written is counted."""
        if self.failed_since:
            marks.insert(0, (_encode_loss, LOSS_DISK, self.failed_since, time_ns, self.lost))
        for at in range(0, len(marks), _PENDING_MARKS):
            part = marks[at:at + _PENDING_MARKS]
            payload = b"".join([mark[0](self, *mark[1:]) for mark in part])
            if self.max_bytes and self.size + len(payload) > self.max_bytes:
                self._append(_encode_loss(self, LOSS_SIZE, time_ns, time_ns, len(marks) - at))
                self.off = True
                return
            if not self._append(payload):
                self.lost += len(marks) - at
                self.failed_since = time_ns
                self.names = {}  # those of the lost chunk stand nowhere
                return
        if self.failed_since:
            self.failed_since = self.lost = 0

    def _append(self, payload):
        """A whole chunk, or nothing: what a full disk left of it is cut off again."""
        head = _CHUNK.pack(0x48435746, len(payload), len(payload), self.sequence, 0)
        chunk = head + struct.pack("<I", crc32(payload, crc32(head))) + payload
        if not self._is_ours() and not self._reopen():
            return False
        try:
            done = os.write(self.fd, chunk)
        except OSError:
            done = 0
        if done != len(chunk):
            if done:
                os.ftruncate(self.fd, self.size)
            return False
        self.size += done
        self.sequence += 1
        return True

    def _begin(self, time_ns):
        """Opens python-<pid>-<n>.fwr; False, and off for good, where that cannot be."""
        if _is_loader_worker():
            self.off = True
            return False
        pid = os.getpid()
        header = _header(pid)
        fd = self._create(pid)
        if fd < 0 or os.write(fd, header) != len(header):
            if fd >= 0:
                os.unlink(self.path)
            self.off = True
            return False
        self._keep(fd)
        self.size = len(header)
        self.is_open = True
        self.pending[:0] = self.about
        _finish_with_child(self)
        return True

    def _create(self, pid):
        for n in range(1000):
            self.path = os.path.join(self.folder, f"python-{pid}-{n}.fwr")
            try:
                return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
            except FileExistsError:
                continue
            except OSError:
                break
        return -1

    def _keep(self, fd):
        self.fd = _high(fd)
        status = os.fstat(self.fd)
        self.identity = (status.st_dev, status.st_ino)

    def _is_ours(self):
        try:
            status = os.fstat(self.fd)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self.identity

    def _reopen(self):
        """The program closed our file, as daemons close all."""
        try:
            fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        except OSError:
            return False
        self._keep(fd)
        return True

    def _look(self, time_ns):
        """What the recorder wants; without its control file: to record."""
        if self.wanted == _WANT_STOP or time_ns - self.looked < _LOOK_NS:
            return
        self.looked = time_ns
        try:
            if self.control < 0:
                self.control = _high(os.open(os.path.join(self.folder, "control"), os.O_RDONLY | os.O_CLOEXEC))
            magic, _version, wanted, _pid = _CONTROL.unpack(os.pread(self.control, _CONTROL.size, 0))
        except (OSError, struct.error):
            self.control = -1
            return
        if magic != _CONTROL_MAGIC:
            self.control = -1  # the number is another file's by now
        elif wanted <= _WANT_STOP:
            self.wanted = wanted

    def string(self, text):
        """(id, the record that defines it or nothing)."""
        known = self.names.get(text)
        if known:
            return known, b""
        number = self.next_name
        self.next_name += 1
        if len(self.names) < _NAMES and not text.startswith("step "):
            self.names[text] = number
        data = text.encode("utf-8", "replace").replace(b"\0", b"?")[:_NAME_BYTES]
        data = data.decode("utf-8", "ignore").encode("utf-8")  # no half character at the cut
        padded = data + bytes(-len(data) % 8)
        return number, _STRING_RECORD.pack(_STRING, _STRING_RECORD.size + len(padded), number, len(data), 0) + padded


def _encode_range(recording, kind, start, end, name, tid):
    number, record = recording.string(name)
    return record + _RANGE_RECORD.pack(_RANGE, _RANGE_RECORD.size, kind, start, end, number, 0, tid, 0)


def _encode_info(recording, key, text, value):
    number, record = recording.string(text) if text else (0, b"")
    return record + _INFO_RECORD.pack(_INFO, _INFO_RECORD.size, key, number, 0, value)


def _encode_loss(recording, reason, start, end, count):
    return _LOSS_RECORD.pack(_LOSS, _LOSS_RECORD.size, reason, start, end, count)


def _encode_loader(recording, number, time_ns, settings):
    return _LOADER_RECORD.pack(_LOADER, _LOADER_RECORD.size, number, time_ns, *settings)


def _header(pid):
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = bytes.fromhex(file.read().strip().replace("-", ""))
    except (OSError, ValueError):
        boot = bytes(16)
    head = _FILE.pack(b"FWREC\r\n\032", _VERSION, _FILE_PYTHON, pid, now(), time.time_ns(), boot)
    return head + struct.pack("<I", crc32(head))


def _high(fd):
    """The same file under a high number."""
    try:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD)
    except OSError:  # a low limit of open files
        return fd
    os.close(fd)
    return high


def _is_loader_worker():
    worker = sys.modules.get("torch.utils.data._utils.worker")
    return getattr(worker, "_worker_info", None) is not None


def is_starting_child():
    """A child that multiprocessing starts by spawn is still taking over its parent's state."""
    process = sys.modules.get("multiprocessing.process")
    return bool(process and getattr(process.current_process(), "_inheriting", False))


def _finish_with_child(recording):
    """Children that multiprocessing forked end without atexit, but run its own finalizers."""
    process, util = (sys.modules.get("multiprocessing." + name) for name in ("process", "util"))
    if process and util and getattr(process.current_process(), "_parent_pid", None) is not None:
        util.Finalize(None, recording.finish, exitpriority=-1000)
