"""A chunk file, from docs/format/chunk-file.md alone. Checksums are not looked at."""
from bits import MASK, Bytes, bits_of, require, signed
from columns import PAGE, times, values
from statistics_bits import statistics

HEADER, FOOTER = 64, 96


def pages_of(count):
    return -(-count // PAGE)


class Rows:
    """The rows of one block of the directory."""

    def __init__(self, file, data, columns_at):
        self.file, self.reader, self.at = file, Bytes(data), columns_at
        self.id = self.first = self.last = self.count = 0
        self.described = []

    def next(self):
        reader = self.reader
        step = reader.varint()
        self.id += step
        codes = reader.u8()
        if codes & 15 == 0:
            column = self.described[-1 - reader.varint()]
        else:
            column = self.time_column(codes & 15, step == 0)
            self.described.append(column)
        self.first, self.last, self.count = column["first"], column["last"], len(column["times"])
        row = {"id": self.id, "first": self.first, "last": self.last, "times": column["times"]}
        kind = codes >> 4
        if kind == 0:
            row["values"] = [self.constant()] * self.count
        else:
            encoding = reader.u8() if kind == 15 else kind
            size = reader.varint()
            reader.u32()
            row["statistics"] = statistics(reader.take(reader.varint()), self.count)
            row["values"] = values(encoding, self.file[self.at:self.at + size], self.count)
            self.at += size
        return row

    def constant(self):
        exponent = self.reader.u8()
        if exponent == 31:
            return self.reader.u64()
        return bits_of(float(self.reader.svarint()) / 10.0**exponent)

    def time_column(self, kind, same_series):
        reader = self.reader
        encoding = reader.u8() if kind == 15 else kind
        first = self.last + reader.varint() if same_series else self.first + reader.svarint()
        first = signed(first & MASK)
        span = reader.varint()
        count = self.count + reader.svarint()
        require(1 <= count <= 8192 and count <= span + 1, "the count of samples")
        if kind == 14:
            step = span // max(1, count - 1)
            require(count == 1 or span % (count - 1) == 0, "even times")
            return {"first": first, "last": first + span, "times": [first + i * step for i in range(count)]}
        back, size = reader.varint(), reader.varint()
        reader.u32()
        place = self.at - back
        page_first = [first + span * PAGE * page // (count - 1) + reader.svarint()
                      for page in range(1, pages_of(count))]
        decoded = times(encoding, self.file[place:place + size], count)
        require(decoded[0] == first and decoded[-1] == first + span, "first and last time")
        require(page_first == decoded[PAGE::PAGE], "first times of pages")
        self.at += size if back == 0 else 0
        return {"first": first, "last": first + span, "times": decoded}


def read(file):
    """All rows; each with the bits of its values."""
    header = Bytes(file, 0, HEADER)
    require(header.take(8) == b"tsdbchnk" and header.u32() == 2, "the header")
    footer = Bytes(file, len(file) - FOOTER, len(file))
    directory, index_at = footer.u64(), footer.u64()
    footer.u64()
    chunks, series, samples, blocks = (footer.u64() for _ in range(4))
    lowest, highest = signed(footer.u64()), signed(footer.u64())
    require(footer.u64() == len(file) and footer.u32() == 2, "the footer")
    footer.u32()
    require(footer.take(8) == b"knhcbdst", "the footer's magic")

    index = Bytes(file, index_at, len(file) - FOOTER)
    totals = [[(index.u8(), index.varint(), index.varint(), index.varint()) for _ in range(index.varint())]
              for _ in ("times", "values")]
    rows, at, columns_at, last_id, first_time = [], directory, HEADER, 0, 0
    for _ in range(blocks):
        first_id = last_id + index.varint()
        first_time += index.svarint()
        last_id = first_id + index.varint()
        count, size, columns = index.varint(), index.varint(), index.varint()
        index.u32()
        block = Rows(file, file[at:at + size], columns_at)
        mine = [block.next() for _ in range(count)]
        block.reader.finish()
        at += size
        columns_at += columns
        require(block.at == columns_at, "the columns of a block")
        require((mine[0]["id"], mine[0]["first"], mine[-1]["id"]) == (first_id, first_time, last_id), "an entry")
        rows += mine
    index.finish()
    require(at == index_at and columns_at == directory, "the places of blocks and columns")
    require(len(rows) == chunks and len({row["id"] for row in rows}) == series, "chunks and series")
    require(sum(len(row["times"]) for row in rows) == samples, "samples")
    require(min(row["first"] for row in rows) == lowest and max(row["last"] for row in rows) == highest, "times")
    require(sum(total[2] for total in totals[1]) == samples, "the totals of values")
    return rows
