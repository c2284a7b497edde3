"""Statistics of a chunk, from docs/format/chunk-file.md, "Statistics"."""
import math
from fractions import Fraction

from bits import MASK, Bits, bits_of, double_of, double_of_ordered, require, signed, unzigzag

PAGE = 1024


def last_place(v):
    return max(bits_of(v) >> 52 & 0x7ff, 1) - 1075


def power(exponent):
    return Fraction(2)**exponent


class Reader:
    def __init__(self, data, count):
        self.bits = Bits(data)
        self.exponent = self.bits.get(5)
        self.raw = self.exponent == 31
        has_nans = self.bits.get(1)
        self.resets = self.bits.get(2)
        pages = PAGE << (self.bits.get(2) if count > PAGE else 0)
        self.parts = [{"count": min(pages, count - i), "nans": 0} for i in range(0, count, pages)]
        self.first = self.last = None  # bits of a NaN
        if has_nans:
            self.first = self.bits.get(64) if self.bits.get(1) else None
            self.last = self.bits.get(64) if self.bits.get(1) else None
            for part in self.parts:
                part["nans"] = self.bits.get(part["count"].bit_length())
        self.numbered = [part for part in self.parts if part["nans"] < part["count"]]

    def number(self, integer):
        if self.raw:
            return double_of_ordered(integer & MASK)
        return float(signed(integer & MASK)) / 10.0**self.exponent

    def start(self):
        if not self.raw:
            return unzigzag(self.bits.sized())
        n = self.bits.get(6) + 1
        return self.bits.get(n) << 64 - n

    def apart(self):
        greatest = self.start()
        least = self.start() if self.raw and self.bits.get(1) else greatest - self.bits.sized()
        w = self.bits.get(7)

        def edge_or_distance(edge):
            return edge() if self.bits.get(1) else greatest - self.bits.get(w)

        first = edge_or_distance(lambda: greatest if self.bits.get(1) else least)
        last = edge_or_distance(lambda: greatest if self.bits.get(1) else least)
        for part in self.numbered:
            several = len(self.parts) > 1
            part["low"] = edge_or_distance(lambda: least) if several else least
            part["high"] = edge_or_distance(lambda: greatest) if several else greatest
        return first, last

    def chained(self):
        first = before = self.start()
        v, w = self.bits.get(7), self.bits.get(7)
        for part in self.numbered:
            part["low"] = before + unzigzag(self.bits.get(v))
            part["high"] = before = part["low"] + self.bits.get(w)
        return first, before + unzigzag(self.bits.get(v))

    def numbers(self):
        first, last = self.chained() if self.bits.get(1) else self.apart()
        for part in self.numbered:
            part["min"], part["max"] = self.number(part["low"]), self.number(part["high"])
        self.first = bits_of(self.number(first)) if self.first is None else self.first
        self.last = bits_of(self.number(last)) if self.last is None else self.last

    def terms(self):
        infinities = {name for name in ("+inf", "-inf") if self.bits.get(1)}
        total = unzigzag(self.bits.sized()) * power(1024)
        for _ in range(self.bits.get(6)):
            total += Fraction(double_of(self.bits.get(64)))
        return infinities or total

    def sums(self):
        form = self.bits.get(2)
        unit, width = (self.bits.get(11), self.bits.get(6)) if form == 1 else (0, 0)
        for part in self.numbered:
            n = part["count"] - part["nans"]
            if form == 3:
                part["sum"] = self.terms()
            elif form == 2:
                part["sum"] = n * Fraction(part["min"]) + self.above(n, part["min"], part["max"])
            else:
                low, high = (signed(part[name] & MASK) for name in ("low", "high"))
                d = n * low + self.bits.get((n * (high - low)).bit_length())
                part["sum"] = Fraction(float(d) / 10.0**self.exponent)
                if form == 1:
                    part["sum"] += unzigzag(self.bits.get(width)) * power(unit - 1074)

    def above(self, n, least, greatest):
        if least == greatest:
            return 0
        unit = unzigzag(self.bits.gamma() - 1)
        if least > 0:
            unit += last_place(least)
        elif greatest < 0:
            unit += last_place(greatest)
        else:
            unit += last_place(max(-least, greatest)) - 10
        top = math.frexp(float(n) * (greatest - least))[1]  # 1 + floor(log2)
        require(1 <= top - unit <= 118, "the width of a sum")
        return self.bits.get(top - unit) * power(unit)

    def reset(self):
        kind = self.bits.get(2)
        if kind == 0:
            return Fraction(0)
        if kind == 1:
            return Fraction(float(unzigzag(self.bits.sized())) / 10.0**self.exponent)
        require(kind == 2, "how resets are kept")
        return self.terms()


def statistics(data, count):
    reader = Reader(data, count)
    if reader.numbered:
        reader.numbers()
        reader.sums()
    for part in reader.parts:
        part["resets"] = {0: Fraction(0), 1: None, 2: "unknown"}[reader.resets]
    if reader.resets == 1:
        for part in reader.parts:
            part["resets"] = reader.reset()
    reader.bits.finish()
    return {"first": reader.first, "last": reader.last, "parts": reader.parts}
