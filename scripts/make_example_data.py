#!/usr/bin/env python3
"""Makes examples/node_scrape.lp.gz: a recorded scrape of prometheus-node-exporter as line protocol.

Input are one or more gzipped CSV files with the header `series,timestamp_ms,value`, where a series is written
`name{label=value;label=value}`. Series with the same labels and the same first word of the name become fields of one
line, so that measurement_field is the metric's name again:

    node_load1{instance=h;job=node}, node_load5{…}  →  node,instance=h,job=node load1=0.3,load5=0.2 1701694367122

Times are moved back by a whole number of weeks (--weeks-back), so that a machine whose clock is behind the day of the
recording does not refuse them as lying in the future. Values are copied as they are written.
"""

import argparse
import collections
import csv
import gzip
import sys

WEEK_MS = 7 * 24 * 3600 * 1000


def escape(text):
    """A tag key, tag value or field name of line protocol."""
    return text.replace(",", "\\,").replace("=", "\\=").replace(" ", "\\ ")


def parse_series(text):
    """`name{k=v;k=v}` as (name, sorted tags)."""
    name, _, rest = text.partition("{")
    tags = [tuple(pair.split("=", 1)) for pair in rest.rstrip("}").split(";") if pair]
    return name, tuple(sorted(tags))


def read_points(paths, shift_ms):
    """{(time, measurement, tags): [(field, value)]} of all files."""
    points = collections.defaultdict(list)
    for path in paths:
        with gzip.open(path, "rt", newline="") as file:
            rows = csv.reader(file)
            if next(rows) != ["series", "timestamp_ms", "value"]:
                sys.exit(f"{path}: the header is not series,timestamp_ms,value")
            for series, time_ms, value in rows:
                name, tags = parse_series(series)
                measurement, separator, field = name.partition("_")
                if not separator:
                    sys.exit(f"{path}: {name}: a name without _ has no field")
                points[(int(time_ms) - shift_ms, measurement, tags)].append((field, value))
    return points


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", nargs="+", help="gzipped CSV files")
    parser.add_argument("--output", default="examples/node_scrape.lp.gz")
    parser.add_argument("--weeks-back", type=int, default=156)
    parser.add_argument("--minutes", type=float, default=1e9, help="keep only the first minutes")
    arguments = parser.parse_args()

    points = read_points(arguments.csv, arguments.weeks_back * WEEK_MS)
    first = min(time for time, _, _ in points)
    samples = 0
    # Without a name and a time in the gzip header the same input gives the same bytes.
    with open(arguments.output, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        for key in sorted(points):
            time, measurement, tags = key
            if time - first >= arguments.minutes * 60_000:
                break
            fields = sorted(points[key])
            samples += len(fields)
            out.write((
                escape(measurement) + "".join(f",{escape(k)}={escape(v)}" for k, v in tags) + " "
                + ",".join(f"{escape(k)}={v}" for k, v in fields) + f" {time}\n").encode())
    print(f"{arguments.output}: {samples} samples", file=sys.stderr)


if __name__ == "__main__":
    main()
