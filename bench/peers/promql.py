"""VictoriaMetrics and Prometheus: the requests in PromQL.

Both look back from an evaluation time. A bucket [s, s + w) with samples every ten seconds is the window that ends one
millisecond before s + w, whether its beginning is included (Prometheus 2.42) or not.
"""

import json
import struct

from process import find_program, free_port, line_batches, start_and_wait
from tsbs import FIELDS, START_MS, STEP_MS


def selector(metrics, hosts):
    names = "|".join("cpu_" + m for m in metrics)
    name = f'__name__=~"{names}"' if len(metrics) > 1 else f'__name__="{names}"'
    if not hosts:
        return "{" + name + "}"
    host = f'hostname=~"{"|".join(hosts)}"' if len(hosts) > 1 else f'hostname="{hosts[0]}"'
    return "{" + name + "," + host + "}"


class PromQl:
    """What both have in common."""

    def __init__(self, peers, folder):
        self.port = free_port()
        self.process, self.http = start_and_wait(self.command(peers, folder), folder, self.port, self.ready_path)

    def stop(self):
        self.process.stop()

    def range(self, query, first, last, step):
        return self.http.get("/api/v1/query_range", {"query": query, "start": f"{first / 1000:.3f}",
                                                     "end": f"{last / 1000:.3f}", "step": step // 1000, **self.extra})

    def ask(self, request):
        """Seconds and the raw reply."""
        width = request.bucket
        if request.kind == "last":
            return self.http.get("/api/v1/query", {"query": selector(FIELDS, []),
                                                   "time": (request.end - STEP_MS) // 1000, **self.extra})
        if request.kind == "high":
            high = selector(["usage_user"], request.hosts) + " > 90"
            query = f"{selector(request.metrics, request.hosts)} and on(hostname) ({high})"
            return self.range(query, request.start, request.end - STEP_MS, STEP_MS)
        if request.kind == "avg-host":
            query = self.per_metric("avg by (hostname) (avg_over_time({}[1h]))", request)
        else:
            query = self.per_metric("max(max_over_time({}[%ds]))" % (width // 1000), request)
        return self.range(query, request.start + width - 1, request.end - 1, width)

    def parse(self, request, reply):
        result = json.loads(reply)["data"]["result"]
        answer = {}
        if request.kind in ("high", "last"):
            for series in result:
                labels = series["metric"]
                column = FIELDS.index(labels["__name__"][4:])
                for time, value in series.get("values") or [series["value"]]:
                    row = answer.setdefault((labels["hostname"], round(float(time) * 1000)), [0.0] * len(FIELDS))
                    row[column] = float(value)
            return {key: tuple(row) for key, row in answer.items()}
        for series in result:
            labels = series["metric"]
            name = labels.get("metric") or labels.get("__name__", "cpu_")[4:]
            if request.kind == "newest":
                name = ""
            if request.kind == "avg-host":
                name += " " + labels["hostname"]
            for time, value in series["values"]:
                answer[(name, round(float(time) * 1000) + 1 - request.bucket)] = (float(value),)
        return answer


class VictoriaMetrics(PromQl):
    name = "VictoriaMetrics"
    ready_path = "/health"
    extra = {"nocache": 1}

    @staticmethod
    def available(peers):
        return find_program(peers, "victoria-metrics")

    def command(self, peers, folder):
        return [self.available(peers), f"-storageDataPath={folder}/data", f"-httpListenAddr=127.0.0.1:{self.port}",
                "-retentionPeriod=100y", "-loggerLevel=ERROR", "-search.maxQueryDuration=120s"]

    def load(self, files):
        for body in line_batches(files.influx, 10_000):
            self.http.post("/write", body)
        self.http.get("/internal/force_flush", {})
        self.http.get("/internal/force_merge", {})
        self.process.settle()

    def per_metric(self, form, request):
        # Names stay, so one expression does for all metrics.
        named = form.replace("by (hostname)", "by (__name__, hostname)").replace("max(max_", "max by (__name__) (max_")
        named = named.replace("])", "]) keep_metric_names", 1)
        return named.replace("{}", selector(request.metrics, request.hosts))


class Prometheus(PromQl):
    name = "Prometheus"
    ready_path = "/-/ready"
    extra = {}

    @staticmethod
    def available(peers):
        return find_program(peers, "prometheus")

    def command(self, peers, folder):
        with open(f"{folder}/prometheus.yml", "w", encoding="ascii") as config:
            config.write("global: {}\n")
        return [self.available(peers), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-remote-write-receiver",
                "--storage.tsdb.retention.time=100y", "--query.max-samples=1000000000", "--log.level=error"]

    def load(self, files):
        """By remote write, half an hour of all series at a time: it takes only what is new enough."""
        tags, values = files.columns()
        headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf",
                   "X-Prometheus-Remote-Write-Version": "0.1.0"}
        rows = len(next(iter(values.values()))[0])
        for begin in range(0, rows, 180):
            times = [START_MS + STEP_MS * i for i in range(begin, min(rows, begin + 180))]
            template = samples_template(times)
            body = bytearray()
            for host, columns in values.items():
                for field, column in zip(FIELDS, columns):
                    body += time_series(label_bytes(tags[host], field), template, column[begin:begin + len(times)])
                if len(body) > 4 << 20:
                    self.http.post("/api/v1/write", snappy_literals(body), headers)
                    body = bytearray()
            if body:
                self.http.post("/api/v1/write", snappy_literals(body), headers)
        self.process.settle()

    def per_metric(self, form, request):
        # Functions over time drop the name, so each metric is an expression of its own.
        return " or ".join(f'label_replace({form.replace("{}", selector([m], request.hosts))},"metric","{m}","","")'
                           for m in request.metrics)


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def label_bytes(tags, field):
    """The labels of a series as fields of a remote write TimeSeries, sorted by name."""
    out = b""
    for name, value in sorted({"__name__": "cpu_" + field, **tags}.items()):
        pair = b"\x0a" + varint(len(name)) + name.encode() + b"\x12" + varint(len(value)) + value.encode()
        out += b"\x0a" + varint(len(pair)) + pair
    return out


SAMPLE_BYTES = 18  # tag, length 16, tag and double, tag and six bytes of time


def samples_template(times):
    """Sample messages of these times, with room for the values."""
    out = bytearray()
    for time in times:
        text = varint(time)
        assert len(text) == 6
        out += b"\x12\x10\x09" + bytes(8) + b"\x10" + text
    return out


def time_series(labels, template, column):
    samples = bytearray(template)
    raw = struct.pack(f"<{len(column)}d", *column)
    for byte in range(8):
        samples[3 + byte::SAMPLE_BYTES] = raw[byte::8]
    return b"\x0a" + varint(len(labels) + len(samples)) + labels + samples


def snappy_literals(body):
    """The snappy block format, with everything as literals."""
    out = bytearray(varint(len(body)))
    for begin in range(0, len(body), 65536):
        piece = body[begin:begin + 65536]
        out += b"\xf4" + struct.pack("<H", len(piece) - 1) + piece
    return bytes(out)
