"""Integers, bit fields and doubles as docs/format names them. Shares no code with the library."""
import struct

MASK = 2**64 - 1


class Damaged(Exception):
    """The bytes are not what docs/format says."""


def require(condition, what):
    if not condition:
        raise Damaged(what)


def signed(v):
    return v - 2**64 if v >> 63 else v


def unzigzag(code):
    return code >> 1 if code & 1 == 0 else -(code >> 1) - 1


def double_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits & MASK))[0]


def bits_of(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def double_of_ordered(ordered):
    return double_of(ordered ^ (2**63 - 1) if ordered >> 63 else ordered)


class Bytes:
    """Reads forward through bytes."""

    def __init__(self, data, at=0, end=None):
        self.data, self.at, self.end = data, at, len(data) if end is None else end

    def take(self, n):
        require(self.at + n <= self.end, "the bytes end too early")
        self.at += n
        return self.data[self.at - n:self.at]

    def u8(self):
        return self.take(1)[0]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def u64(self):
        return struct.unpack("<Q", self.take(8))[0]

    def varint(self):
        v = shift = 0
        while True:
            byte = self.u8()
            v |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                require(v <= MASK, "a varint is too long")
                return v

    def svarint(self):
        return unzigzag(self.varint())

    def rest(self):
        return self.take(self.end - self.at)

    def finish(self):
        require(self.at == self.end, "bytes are left over")


class Bits:
    """A stream of bits, least significant first."""

    def __init__(self, data):
        self.value, self.bits, self.at = int.from_bytes(data, "little"), 8 * len(data), 0

    def get(self, width):
        require(self.at + width <= self.bits, "the bits end too early")
        v = self.value >> self.at & (1 << width) - 1
        self.at += width
        return v

    def ones(self):
        n = 0
        while self.get(1):
            n += 1
        return n

    def gamma(self):
        n = self.ones()
        return 1 << n | self.get(n)

    def sized(self):
        return self.get(self.get(6) + 1)

    def finish(self):
        require(self.bits - self.at < 8 and self.value >> self.at == 0, "bits are left over")
