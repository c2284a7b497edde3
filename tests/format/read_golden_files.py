#!/usr/bin/env python3
"""Reads the golden chunk files with a reader written from docs/format alone, and compares samples and statistics.

    read_golden_files.py [FOLDER]      by default tests/golden/chunk-2
"""
import math
import pathlib
import sys
from fractions import Fraction

from bits import Damaged, bits_of, double_of
from chunk_file import read

START = 1_700_000_000_000
SPECIAL = [0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000, 1 << 63, bits_of(0.1), 1]

# name: times, values, samples of each of two series; as tests/chunk/golden_files_test.cc makes them
GOLDEN = {
    "even_times_constant_values": ("even", "constant", 300),
    "jitter_whole_numbers": ("jitter", "walk", 300),
    "jitter_decimals_two_pages": ("jitter", "decimals", 1100),
    "counter_with_resets": ("even", "counter", 300),
    "random_bits": ("even", "bits", 40),
    "nan_infinity_negative_zero": ("jitter", "special", 40),
    "dense_whole_numbers_three_pages": ("even", "walk", 2100),
    "dense_decimals": ("jitter", "decimals", 300),
    "dense_steps": ("even", "steps", 1100),
    "dense_random_bits": ("jitter", "bits", 40),
    "drifting_times_near_misses": ("drift", "near", 600),
    "dense_near_misses_two_pages": ("drift", "near", 1300),
    "multiples_of_eight": ("even", "multiples", 300),
    "dense_multiples_of_eight": ("even", "multiples", 1100),
    "narrow_bits_two_pages": ("drift", "narrow", 1100),
    "dense_narrow_bits_two_pages": ("jitter", "narrow", 1100),
    "dense_near_misses_five_pages": ("even", "near", 4200),
    "dense_pages_apart": ("even", "mixed", 3300),
}


class Numbers:
    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % bound

    def bits(self):
        return self.below(2**31) << 33 ^ self.below(2**31) << 11 ^ self.below(2**11)


def next_value(kind, i, before, numbers):
    """The bits of the next value."""
    if kind == "bits":
        return numbers.bits()
    if kind == "special":
        return SPECIAL[numbers.below(6)]
    if kind == "near":
        tenths = float(numbers.below(400)) / 10
        return bits_of(1e300 / 7 if i % 90 == 41 else tenths + 0.3 if i % 9 == 4 else tenths)
    if kind == "narrow":
        return bits_of(1 + double_of(numbers.bits() >> 12 | 0x3ff0000000000000) / 8)
    if kind == "mixed":
        return bits_of(0.5 if i < 1024 else float(numbers.below(100_000)) / 1000 if i < 2048 else
                       4096 * float(numbers.below(9)) if i < 3072 else float(i % 2))
    simple = {
        "constant": lambda: 21.5,
        "walk": lambda: before + numbers.below(3) - 1,
        "decimals": lambda: float(20_000 + numbers.below(500)) / 100,
        "counter": lambda: 0.0 if i % 100 == 99 else before + numbers.below(40),
        "multiples": lambda: before - 50 + 8 * numbers.below(60) + (3 if i == 0 else 0),
        "steps": lambda: (1 + i // 50 % 4) / 8,
    }
    return bits_of(float(simple[kind]()))


def samples(name, series):
    times_kind, kind, count = GOLDEN[name]
    jitter, numbers, value, drift = Numbers(7), Numbers(series), bits_of(50.0), 0
    times, values = [], []
    for i in range(count):
        drift += jitter.below(9) if times_kind == "drift" else 0
        late = drift + (jitter.below(20) if times_kind == "jitter" else 0)
        value = next_value(kind, i, double_of(value), numbers)
        times.append(START + 1000 * i + late)
        values.append(value)
    return times, values


def exact_sum(numbers):
    infinities = {"+inf" if v > 0 else "-inf" for v in numbers if math.isinf(v)}
    return infinities or sum(map(Fraction, numbers))


def key(v):
    """Orders doubles with -0 below +0."""
    return v, math.copysign(1, v)


def check_statistics(found, values, fail):
    if (found["first"], found["last"]) != (values[0], values[-1]):
        fail("first and last value")
    at, before = 0, None
    for part in found["parts"]:
        numbers = [v for v in map(double_of, values[at:at + part["count"]]) if v == v]
        at += part["count"]
        if part["nans"] != part["count"] - len(numbers):
            fail("count of NaNs")
        if not numbers:
            continue
        if key(part["min"]) != min(map(key, numbers)) or key(part["max"]) != max(map(key, numbers)):
            fail("extremes")
        if part["sum"] != exact_sum(numbers):
            fail("sum")
        falls = [a for a, b in zip([numbers[0] if before is None else before] + numbers, numbers) if b < a]
        before = numbers[-1]
        if part["resets"] != "unknown" and part["resets"] != exact_sum(falls):
            fail("resets")
    if at != len(values):
        fail("count of values")


def check(path):
    def fail(what):
        raise Damaged(f"{path}: {what} of series {series} are not those of its samples")

    rows = read(path.read_bytes())
    for series, row in zip((10, 11), rows, strict=True):
        times, values = samples(path.name, series)
        if row["id"] != series or row["times"] != times:
            fail("times")
        if row["values"] != values:
            fail("values")
        if "statistics" in row:
            check_statistics(row["statistics"], values, fail)


def main():
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parent / "golden" / "chunk-2"
    names = sorted(path.name for path in folder.iterdir())
    if names != sorted(GOLDEN):
        sys.exit(f"{folder}: {set(names) ^ set(GOLDEN)} are there or known here, not both")
    for name in names:
        check(folder / name)
    print(f"{len(names)} files")


if __name__ == "__main__":
    main()
