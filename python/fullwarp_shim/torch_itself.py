"""PyTorch is there: its version, the rank of this process, and the options that concern all of it."""
import os

from . import recording as rec

_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_WORLD_SIZE = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")


def _number(names):
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit() and len(text) < 10:
            return int(text)
    return None


def _command():
    with open("/proc/self/cmdline", "rb") as file:
        return file.read(4096).rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")


def hook(torch, recording):
    recording.info(rec.INFO_TORCH, str(torch.__version__))
    recording.info(rec.INFO_COMMAND, _command())
    for key, names in ((rec.INFO_RANK, _RANK), (rec.INFO_WORLD_SIZE, _WORLD_SIZE)):
        value = _number(names)
        if value is not None:
            recording.info(key, value=value)
    # torch.compile traces through our wrappers: under it they must be the functions that they wrap.
    places = (getattr(torch, "compiler", None), getattr(torch, "_utils", None))  # from 2.1 on; in 2.0
    recording.is_compiling = next((p.is_compiling for p in places if hasattr(p, "is_compiling")), _never)
    if recording.options.get("python_calls") == "1":
        from . import call_sites
        call_sites.hook(torch, recording)
    if not rec.is_starting_child():
        recording.open()


def _never():
    return False
