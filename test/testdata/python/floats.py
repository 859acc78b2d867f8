"""Writes floats.txt: doubles (big-endian hex of their bits) and Python's repr of each.

    python3 floats.py > floats.txt
"""

import random
import struct


def bits(value):
    return struct.unpack(">Q", struct.pack(">d", value))[0]


def double(word):
    return struct.unpack(">d", struct.pack(">Q", word & 0xFFFFFFFFFFFFFFFF))[0]


def doubles():
    for exponent in range(-324, 309):
        yield float("1e%d" % exponent)
    for exponent in range(-1074, 1024, 3):
        yield 2.0**exponent
    # The borders where the spelling changes, and their neighbours.
    for border in (1e-5, 1e-4, 1e15, 1e16, 1e17, 2.0**53, 1e20, 1e21, 1e22, 1e23, 9e15, 0.1, 1.0, 5e-324):
        for step in range(-6, 7):
            yield double(bits(border) + step) if bits(border) + step >= 0 else 0.0
    for word in (0, 1, 2, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF):
        yield double(word)
    source = random.Random(20261130)
    for _ in range(400):
        yield double(source.getrandbits(52))  # subnormals
    for _ in range(900):
        yield double(source.getrandbits(63))
    for _ in range(500):
        yield round(source.uniform(-1e6, 1e6), source.randrange(8))
    for _ in range(300):
        yield float(source.randrange(10**17) * 10 ** source.randrange(8))


seen = set()
for value in doubles():
    for signed in (value, -value):
        if signed == signed and abs(signed) != float("inf") and bits(signed) not in seen:
            seen.add(bits(signed))
            print("%016x %r" % (bits(signed), signed))
