#!/usr/bin/env python3
"""The tests' own reader of recordings knows every record of src/trace/recording.h, with its size."""
import os
import re
import struct

import recorded
from read_recording import CHUNK, FILE, RECORDS

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "trace")


class Reader(recorded.TestCase):
    def test_knows_every_record_and_its_size(self):
        with open(os.path.join(SOURCE, "recording.h")) as file:
            sizes = {name: int(size) for name, size in re.findall(r"FW_RECORD_SIZE\(fw_rec_?(\w*), (\d+)\)",
                                                                  file.read())}
        with open(os.path.join(SOURCE, "recording.def")) as file:
            numbers = {name: int(number) for number, name in re.findall(r"^FW_RECORD\((\d+), \w+, (\w+)\)",
                                                                        file.read(), re.M)}
        ours = {name: (number, 8 + struct.calcsize(layout)) for number, (name, _, layout, _) in RECORDS.items()}
        theirs = {name: (number, sizes[name]) for name, number in numbers.items() if name != "string"}
        self.assertEqual(ours, theirs)
        self.assertEqual((FILE.size, CHUNK.size), (sizes["file"], sizes["chunk"]))

    def test_names_every_field_that_it_unpacks(self):
        for name, _, layout, fields in RECORDS.values():
            self.assertEqual(len(fields.split()), len(struct.unpack(layout, bytes(struct.calcsize(layout)))), name)


if __name__ == "__main__":
    recorded.main()
