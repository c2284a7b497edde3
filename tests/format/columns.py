"""Columns of times and values, from docs/format/encodings.md alone."""
from bits import MASK, Bits, Bytes, bits_of, double_of_ordered, require, signed, unzigzag

PAGE = 1024
WEIGHTS = [65536, 71468, 77936, 84990, 92682, 101070, 110218, 120194]


def page_sizes(n):
    return [min(PAGE, n - i) for i in range(0, n, PAGE)]


def undo_order(residuals, order, start, delta):
    out = []
    for r in residuals:
        if order == 2:
            delta += r
            start += delta
        elif order == 1:
            start += r
        out.append((r if order == 0 else start) & MASK)
    return out


def unpack(reader, m, w):
    if m < 256:
        stream = Bits(reader.take((m * w + 7) // 8))
        return [stream.get(w) for _ in range(m)]
    low = min(w, 32)
    u = unpack_lanes(reader.take(32 * low), low)
    if w > 32:
        high = unpack_lanes(reader.take(32 * (w - 32)), w - 32)
        u = [a | b << 32 for a, b in zip(u, high)]
    return u


def unpack_lanes(data, w):
    lanes = [Bits(b"".join(data[(8 * j + lane) * 4:(8 * j + lane) * 4 + 4] for j in range(w))) for lane in range(8)]
    return [lanes[i % 8].get(w) for i in range(256)]


def block(reader, m, base):
    header = reader.u8()
    if header == 0x7f:
        return [base] * m, base
    w = header & 127
    require(w <= 64 and (header < 128 or w <= 63), "the width of a block")
    base += reader.svarint()
    r = [base + u for u in unpack(reader, m, w)]
    if header >= 128:
        count = reader.u8() + 1
        form = reader.u8()
        require(form <= 64 or form == 0x80, "the form of patches")
        if count <= (m + 7) // 8:
            positions = list(reader.take(count))
        else:
            ones = Bits(reader.take((m + 7) // 8))
            positions = [i for i in range(m) if ones.get(1)]
            ones.finish()
        require(len(positions) == count, "the bit map of patches")
        if form == 0x80:
            excesses = [reader.varint() for _ in positions]
        else:
            stream = Bits(reader.take((count * form + 7) // 8))
            excesses = [stream.get(form) for _ in positions]
        for position, excess in zip(positions, excesses):
            r[position] += unzigzag(excess + 1 & MASK) << w
    return r, base


def integer_blocks(reader, n, order):
    start = reader.svarint() if order >= 1 else 0
    delta = reader.svarint() if order == 2 else 0
    residuals, base = [], 0
    for i in range(0, n, 256):
        r, base = block(reader, min(256, n - i), base)
        residuals += r
    return undo_order(residuals, order, start, delta)


def token_intervals(reader, tokens, is_dictionary):
    """For each token the first integer it stands for and its raw bits."""
    if is_dictionary:
        return [(v, 0) for v in integer_blocks(reader, tokens, 1)]
    grades = reader.u8()
    d, m = grades & 15, grades >> 4
    centre, first = reader.svarint(), reader.svarint()
    result = []
    for t in range(tokens):
        g = first + t
        a = abs(g)
        if a < 2**d:
            result.append((centre + g, 0))
            continue
        b = a - 2**d
        w = d - m + b // 2**m
        x = (2**m + b % 2**m) << w
        result.append((centre + x if g > 0 else centre - x - 2**w + 1, w))
    return result


def frequencies(stream, tokens, log, precision):
    occur, taken = [], True
    while len(occur) < tokens:
        run = stream.gamma()
        occur += [taken] * (run - 1 if not occur and taken else run)
        taken = not taken
    require(len(occur) == tokens, "which tokens occur")
    k = stream.get(2)
    top = (log + 1) << precision
    level, weights = top, {}
    levels = {}
    for t in range(tokens):
        if occur[t]:
            z = stream.ones() << k
            level += unzigzag(z | stream.get(k))
            require(1 <= level <= top, "a level")
            levels[t] = level
            weights[t] = WEIGHTS[level % 2**precision << 3 - precision] << (level >> precision)
    total = sum(weights.values())
    share = 2**log - len(weights)
    result = {t: 1 + weight * share // total for t, weight in weights.items()}
    result[max(levels, key=lambda t: (levels[t], -t))] += 2**log - sum(result.values())
    return result


def slots_of(freq):
    return [(t, f, place) for t, f in sorted(freq.items()) for place in range(f)]


def token_stream(data, count, slots, follows, intervals, log):
    state, words, at = int.from_bytes(data[:4], "little"), data[4:], 0
    tokens, context = [], 0
    for _ in range(count):
        t, f, place = slots[context][state % 2**log]
        state = f * (state >> log) + place
        if state < 2**16 and at + 2 <= len(words):
            state = state << 16 | int.from_bytes(words[at:at + 2], "little")
            at += 2
        context = follows[t]
        tokens.append(t)
    if all(w == 0 for _, w in intervals):
        require(state == 1 and at == len(words), "the end of a stream")
        return [intervals[t][0] for t in tokens]
    require(state >> 16 == 1, "the end of a stream")
    raw = Bits(int.to_bytes(state & 0xffff, 2, "little") + words[at:])
    return [intervals[t][0] + raw.get(intervals[t][1]) for t in tokens]


def integer_tokens(reader, n):
    shape, layout = reader.u8(), reader.u8()
    order, is_dictionary, precision, log = shape & 3, shape >> 2 & 1, shape >> 3 & 3, 8 + (shape >> 5)
    contexts, split = (layout & 15) + 1, layout >> 4 & 3
    intervals = token_intervals(reader, reader.u8() + 1, is_dictionary)
    tokens = len(intervals)
    stream = Bits(reader.data[reader.at:reader.end])
    follows = []
    while contexts > 1 and len(follows) < tokens:
        context = stream.get((contexts - 1).bit_length())
        follows += [context] * stream.gamma()
    slots = [slots_of(frequencies(stream, tokens, log, precision)) for _ in range(contexts)]
    reader.take((stream.at + 7) // 8)
    pages = page_sizes(n)
    starts, start = [], 0
    for _ in pages:
        delta = 0
        if order >= 1:
            start += reader.svarint()
        if order == 2:
            delta = reader.svarint()
        starts.append((start, delta))
    counts = []
    for m in pages:
        share = -(-m // 2**split)
        counts.append([max(0, min(share, m - s * share)) for s in range(2**split)])
    sizes, size = [], 0
    for _ in range(len(pages) << split):
        size += reader.svarint()
        sizes.append(size)
    q = []
    for page, (start, delta) in enumerate(starts):
        residuals = []
        for s, count in enumerate(counts[page]):
            data = reader.take(sizes[(page << split) + s])
            residuals += token_stream(data, count, slots, follows or [0] * tokens, intervals, log)
        q += undo_order(residuals, order, start, delta)
    return q


def times(encoding, data, n):
    reader = Bytes(data)
    if encoding == 1:
        first, step = reader.svarint(), reader.varint()
        result = [first + i * step for i in range(n)]
    else:
        require(encoding in (2, 3), "the encoding of times")
        header, first = reader.u8(), reader.svarint()
        divisor = reader.varint() if header & 4 else 1
        step = reader.varint() if header & 3 == 3 else 0
        if encoding == 2:
            q = integer_blocks(reader, n, 0 if header & 3 == 3 else header & 3)
        else:
            q = integer_tokens(reader, n)
        result = [signed(first + (v + ((step * i & MASK) >> 16)) * divisor & MASK) for i, v in enumerate(q)]
    reader.finish()
    return result


def values(encoding, data, n):
    """The bits of the values."""
    reader = Bytes(data)
    if encoding == 1:
        result = [reader.u64()] * n
    elif encoding == 5:
        table = [(reader.u8(), reader.varint()) for _ in page_sizes(n)]
        result = []
        for (own, size), m in zip(table, page_sizes(n)):
            require(own in (1, 2, 3, 4), "the encoding of a page")
            result += values(own, reader.take(size), m)
    else:
        require(encoding in (2, 3, 4), "the encoding of values")
        result = integer_values(encoding, reader, n)
    reader.finish()
    return result


def integer_values(encoding, reader, n):
    shape, flags = reader.u8(), reader.u8()
    divisor, offset = (reader.varint(), reader.svarint()) if flags & 1 else (1, 0)
    if encoding == 4:
        q, exponent = integer_tokens(reader, n), shape
    else:
        exponent, order = shape & 31, shape >> 5
        if n <= PAGE:
            q = integer_blocks(reader, n, order)
        else:
            sizes = [reader.varint() for _ in page_sizes(n)]
            q = []
            for size, m in zip(sizes, page_sizes(n)):
                page = Bytes(reader.take(size))
                q += integer_blocks(page, m, order)
                page.finish()
    if encoding == 3 or exponent == 31:
        result = [bits_of(double_of_ordered(v * divisor + offset & MASK)) for v in q]
    else:
        result = [bits_of(float(signed(v) * divisor + offset) / 10.0**exponent) for v in q]
    if flags & 2:
        result = [b + k & MASK for b, k in zip(result, integer_blocks(reader, n, 0))]
    if flags & 4:
        gaps = [reader.varint() for _ in range(reader.varint())]
        at = 0
        for gap in gaps:
            result[at + gap] = reader.u64()
            at += gap + 1
    return result
