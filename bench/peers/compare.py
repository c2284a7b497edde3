#!/usr/bin/env python3
"""Asks our engine and other databases the same TSBS queries over the same data, compares answers and times.

  bench/peers/fetch.sh DIR
  bench/peers/compare.py --peers DIR [--build build/bench] [--hosts 100] [--hours 24] [--runs 5] [--only NAME]...

Every server is started by this script on a loopback port, with a folder of its own, and ended by its process id. In each
run every database is asked the same three requests (other hosts, other times), one database after the other, so that
what else the machine does meets all. Times are medians: of servers from sending the request to the last byte of the reply over a kept connection, ours and
DuckDB's until the answer is in memory. An answer that differs by more than 1e-9 ends the script with 1.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import tsbs
from duckdb import DuckDb
from influx import InfluxDb
from own import Own, OwnCompacted
from promql import Prometheus, VictoriaMetrics

SERVERS = [VictoriaMetrics, Prometheus, InfluxDb]
REQUESTS = 3  # of a database in a row


class Files:
    """The data set as text, written once."""

    def __init__(self, generator, folder, hosts, seconds):
        self.influx = str(folder / "cpu.lp")
        self.csv = str(folder / "cpu.csv")
        for form, path in (("influx", self.influx), ("csv", self.csv)):
            with open(path, "wb") as out:
                subprocess.run([generator, form, "--hosts", str(hosts), "--seconds", str(seconds)], stdout=out, check=True)

    def columns(self):
        return tsbs.read_csv(self.csv)


def start_all(arguments, folder, databases):
    """Starts and loads the databases that are there, ours first; each is in the list as soon as it runs."""
    build = pathlib.Path(arguments.build) / "bench"
    seconds = arguments.hours * 3600
    files = Files(build / "tsbs_generate", folder, arguments.hosts, seconds)
    for kind in (Own, OwnCompacted):
        databases.append(kind(build / "tsbs_run", arguments.hosts, seconds))
    for kind in [*SERVERS, DuckDb]:
        if arguments.only and kind.name not in arguments.only:
            continue
        if not kind.available(arguments.peers):
            print(f"{kind.name}: not found, left out (bench/peers/fetch.sh gets it)", file=sys.stderr)
            continue
        place = folder / kind.name
        place.mkdir()
        begin = time.monotonic()
        database = kind(arguments.peers, str(place))
        databases.append(database)
        database.load(files)
        print(f"{kind.name}: loaded and settled in {time.monotonic() - begin:.0f} s", file=sys.stderr)


def measure(databases, query, arguments):
    """Median seconds per database; None where its answers are wrong. The first run warms up and is not counted."""
    times = {database.name: [] for database in databases}
    wrong = {}
    rows = 0
    for run in range(arguments.runs + 1):
        requests = [tsbs.make_request(query, arguments.hosts, arguments.hours * 3600, run * REQUESTS + i)
                    for i in range(REQUESTS)]
        ours = None
        for database in databases:
            replies = [database.ask(request) for request in requests]
            answers = [database.parse(request, reply) for request, (_, reply) in zip(requests, replies)]
            if ours is None:
                ours = answers
                rows += sum(len(answer) for answer in ours)
            for our, answer in zip(ours, answers):
                if found := tsbs.differences(our, answer):
                    wrong[database.name] = found
            if run != 0:
                times[database.name] += [seconds for seconds, _ in replies]
    if rows == 0:
        wrong["tsdb"] = ["no rows in any run"]
    for name, found in wrong.items():
        print(f"{query}: {name} answers otherwise: {'; '.join(found)}", file=sys.stderr)
    return {name: statistics.median(values) for name, values in times.items()}, wrong


def print_table(names, rows):
    servers = [s.name for s in SERVERS if s.name in names]
    print("| query | " + " | ".join(f"{name} ms" for name in names) +
          (" | best server ÷ ours" if servers else "") + (" | DuckDB ÷ ours |" if "DuckDB" in names else " |"))
    print("|---" * (1 + len(names) + bool(servers) + ("DuckDB" in names)) + "|")
    for query, medians in rows:
        cells = [f"{medians[name] * 1000:.3g}" for name in names]
        if servers:
            cells.append(f"**{min(medians[s] for s in servers) / medians['tsdb']:.1f}**")
        if "DuckDB" in names:
            cells.append(f"{medians['DuckDB'] / medians['tsdb']:.1f}")
        print(f"| {query} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", help="folder that fetch.sh filled; else programs are looked for in PATH")
    parser.add_argument("--build", default="build/bench", help="folder of the preset bench")
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", action="append", help="only this database beside ours; may be repeated")
    parser.add_argument("--query", action="append", choices=list(tsbs.QUERIES), help="only this query; may be repeated")
    arguments = parser.parse_args()

    failed = False
    databases = []
    with tempfile.TemporaryDirectory(prefix="tsdb-peers-") as folder:
        try:
            start_all(arguments, pathlib.Path(folder), databases)
            rows = []
            for query in arguments.query or tsbs.QUERIES:
                medians, wrong = measure(databases, query, arguments)
                failed = failed or bool(wrong)
                rows.append((query, medians))
                print(query, {name: f"{seconds * 1000:.3f} ms" for name, seconds in medians.items()}, file=sys.stderr)
            print_table([database.name for database in databases], rows)
            print(f"\n{arguments.hosts} hosts, {arguments.hours} h, medians of {arguments.runs}; "
                  f"load average {os.getloadavg()[0]:.1f}; answers {'DIFFER' if failed else 'equal'}")
        finally:
            for database in databases:
                database.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
