#!/usr/bin/env python3
"""names.py INCLUDE OUT: the names of the CUDA calls by their numbers, from CUPTI's headers, as C tables."""
import re
import sys

include, out = sys.argv[1:]
text = ""
for domain in "driver", "runtime":
    with open(f"{include}/cupti_{domain}_cbid.h") as header:
        rows = re.findall(rf"CUPTI_{domain.upper()}_TRACE_CBID_(cu\w+)\s*=\s*(\d+)", header.read())
    text += f"static const char *const {domain}_names[] = {{\n"
    text += "".join(f'\t[{number}] = "{name}",\n' for name, number in rows) + "};\n"
with open(out, "w") as file:
    file.write(text)
