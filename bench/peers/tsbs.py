"""The TSBS cpu-only data and the requests that every database is asked, the same for all."""

import array
import dataclasses
import random

FIELDS = ["usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq", "usage_softirq",
          "usage_steal", "usage_guest", "usage_guest_nice"]
TAGS = ["hostname", "region", "datacenter", "rack", "os", "arch", "team", "service", "service_version",
        "service_environment"]
START_MS = 1704067200000  # as bench/tsbs_generator.h
STEP_MS = 10_000
MINUTE_MS = 60_000
HOUR_MS = 3_600_000

# kind, metrics, hosts (0: all), hours
QUERIES = {
    "single-groupby-1-1-1": ("max", 1, 1, 1),
    "single-groupby-1-1-12": ("max", 1, 1, 12),
    "single-groupby-1-8-1": ("max", 1, 8, 1),
    "single-groupby-5-1-1": ("max", 5, 1, 1),
    "single-groupby-5-1-12": ("max", 5, 1, 12),
    "single-groupby-5-8-1": ("max", 5, 8, 1),
    "cpu-max-all-1": ("max-hour", 10, 1, 8),
    "cpu-max-all-8": ("max-hour", 10, 8, 8),
    "double-groupby-1": ("avg-host", 1, 0, 12),
    "double-groupby-5": ("avg-host", 5, 0, 12),
    "double-groupby-all": ("avg-host", 10, 0, 12),
    "high-cpu-1": ("high", 10, 1, 12),
    "high-cpu-all": ("high", 10, 0, 12),
    "lastpoint": ("last", 10, 0, 1),
    "groupby-orderby-limit": ("newest", 1, 0, 1),
}


@dataclasses.dataclass
class Request:
    """What one query asks. Times in milliseconds, the end excluded; no hosts: all of them."""
    query: str
    kind: str
    metrics: list
    hosts: list
    start: int
    end: int

    @property
    def bucket(self):
        return HOUR_MS if self.kind in ("max-hour", "avg-host") else MINUTE_MS


def make_request(query, hosts, seconds, seed):
    """Hosts and window from the seed. Windows begin at whole buckets, which some databases cannot shift."""
    kind, metrics, host_count, hours = QUERIES[query]
    draw = random.Random(f"{query} {seed}")
    grain = HOUR_MS if kind in ("max-hour", "avg-host") else MINUTE_MS
    places = (seconds * 1000 - hours * HOUR_MS) // grain
    start = START_MS + draw.randint(0, places) * grain
    end = start + hours * HOUR_MS
    if kind == "newest":
        start = end - 5 * MINUTE_MS
    if kind == "last":
        start, end = START_MS, START_MS + seconds * 1000
    chosen = [f"host_{i}" for i in draw.sample(range(hosts), host_count)]
    return Request(query, kind, FIELDS[:metrics], chosen, start, end)


def read_csv(path):
    """Columns of tsbs_generate csv: the tags of each host, and per host and field its values, oldest first."""
    tags = {}
    values = {}
    with open(path, encoding="ascii") as lines:
        next(lines)
        for line in lines:
            cells = line.rstrip("\n").split(",")
            host = cells[1]
            if host not in tags:
                tags[host] = dict(zip(TAGS, cells[1:11]))
                values[host] = [array.array("d") for _ in FIELDS]
            for column, cell in zip(values[host], cells[11:]):
                column.append(float(cell))
    return tags, values


def differences(ours, theirs, tolerance=1e-9):
    """What is wrong with an answer, at most three lines. An answer maps (name, time) to a tuple of values."""
    found = []
    for key in sorted(set(ours) | set(theirs)):
        if key not in theirs or key not in ours:
            found.append(f"{key}: only {'ours' if key in ours else 'theirs'}")
        elif any(abs(a - b) > tolerance * max(1.0, abs(a)) for a, b in zip(ours[key], theirs[key])):
            found.append(f"{key}: {ours[key]} and {theirs[key]}")
        if len(found) == 3:
            break
    return found
