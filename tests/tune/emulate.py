#!/usr/bin/env python3
"""Runs configurations of a kernel of examples/tune on the CPU and compares with what it should compute.

    emulate.py TUNE_POINTS KERNEL.cu COUNT SEED SET=NUMBER...

The default configuration and COUNT random ones, at these sizes. Buffers end at a page that cannot be touched, indices
of shared memory are checked by the compiler's sanitizer. Exit code 77: no C++ compiler."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
C_TYPES = {"f32": "float", "i32": "int"}

FRAME = """
#include "{here}/cpu_cuda.h"
static char cpu_shared[{smem} + 16];
{defines}
{source}
#include "{here}/references.h"

/* So many bytes before a page that faults; in front and behind them 0xa5. */
static char *guarded(size_t bytes)
{{
	size_t room = (bytes + 15) / 16 * 16, pages = (room + 4095) / 4096 * 4096;
	char *at = (char *)mmap(nullptr, pages + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(at, 0xa5, pages);
	mprotect(at + pages, 4096, PROT_NONE);
	return at + pages - room;
}}

{arguments}

static void call()
{{
	{kernel}({casts});
}}

int main()
{{
	int bad = 0;

	srand(1);
{fills}
	reference({expected});
	run({{ {grid} }}, {{ {block} }}, call);
{checks}
	return bad != 0;
}}
"""

FILL = """	{name} = ({type} *)guarded({n} * sizeof({type}));
	want_{name} = ({type} *)malloc({n} * sizeof({type}));
	for (int i = 0; i < {n}; i++)
		want_{name}[i] = {name}[i] = ({type})({value});"""

CHECK = """	for (int i = 0; i < {n}; i++)
		if (!(fabs({name}[i] - want_{name}[i]) <= {abs} + {rel} * fabs(want_{name}[i])) && !bad++)
			printf("{name}[%d] is %.9g, not %.9g\\n", i, (double){name}[i], (double)want_{name}[i]);
	for (char *p = (char *)({name} + {n}); (uintptr_t)p % 4096; p++)
		if (*p != (char)0xa5 && !bad++)
			printf("{name} was written past its end\\n");"""


def program(source, point):
    lines = {"arguments": [], "fills": [], "checks": []}
    for arg in point["args"]:
        words = {"name": arg["name"], "type": C_TYPES[arg["type"]], "n": arg["elements"], "rel": arg["rel"],
                 "abs": arg["abs"]}
        value = f"{arg['low']} + ({arg['high']} - {arg['low']}) * (rand() / (RAND_MAX + 1.0))"
        if arg["output"] and not arg["inout"]:
            value = "-12345"  # must be overwritten
        elif arg["fill"] == 1:
            value = "0"
        lines["arguments"].append("static {type} *{name}, *want_{name};".format(**words))
        lines["fills"].append(FILL.format(value=value, **words))
        if arg["output"]:
            lines["checks"].append(CHECK.format(**words))
    signature = re.search(r"__global__[^{;]*\b%s\(([^)]*)\)" % point["kernel"], source)[1]
    types = [re.sub(r"\w+$", "", part).replace("__restrict__", "") for part in signature.split(",")]
    names = [arg["name"] for arg in point["args"]]
    source = re.sub(r"extern __shared__ float (\w+)\[\];", r"float *\1 = (float *)cpu_shared;", source)
    # Behind the library's headers, which may use such names themselves.
    defines = [re.sub("-D([^=]*)=", r"#define \1 ", option) for option in point["options"] if option.startswith("-D")]
    return FRAME.format(here=HERE, source=source, defines="\n".join(defines), kernel=point["kernel"], smem=point["smem"],
                        casts=", ".join(f"({t}){n}" for t, n in zip(types, names)),
                        expected=", ".join("want_" + n for n in names),
                        grid=", ".join(map(str, point["grid"])), block=", ".join(map(str, point["block"])),
                        **{key: "\n".join(value) for key, value in lines.items()})


def try_point(source, point, folder):
    code, exe = folder / "point.cpp", folder / "point"
    code.write_text(program(source, point))
    subprocess.run(["c++", "-std=c++17", "-O1", "-fno-exceptions", "-w", "-fsanitize=bounds,signed-integer-overflow,alignment",
                    "-fno-sanitize-recover=all", f"-DKERNEL_{point['kernel']}", "-o", exe, code], check=True)
    done = subprocess.run([exe], capture_output=True, text=True, timeout=100)
    if done.returncode:
        print(f"{point['kernel']} {' '.join(point['options'])}: {done.returncode} {done.stdout}{done.stderr}")
    return done.returncode == 0


def main():
    tool, path, count, seed, *sizes = sys.argv[1:]
    if not shutil.which("c++"):
        print("skipped: no C++ compiler")
        return 77
    source = pathlib.Path(path).read_text()
    points = subprocess.run([tool, path, count, seed, *sizes], check=True, capture_output=True, text=True).stdout
    points = [json.loads(line) for line in points.splitlines()[1:]]
    with tempfile.TemporaryDirectory() as folder:
        good = sum(try_point(source, point, pathlib.Path(folder)) for point in points)
    print(f"{good} of {len(points)} configurations right")
    return good < len(points)


if __name__ == "__main__":
    sys.exit(main())
