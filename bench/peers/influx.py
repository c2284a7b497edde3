"""InfluxDB 1.x: the requests in InfluxQL."""

import json

from process import find_program, free_port, line_batches, start_and_wait
from tsbs import HOUR_MS


class InfluxDb:
    name = "InfluxDB"

    @staticmethod
    def available(peers):
        return find_program(peers, "influxd")

    def __init__(self, peers, folder):
        port = free_port()
        self.process, self.http = start_and_wait([self.available(peers), "run"], folder, port, "/ping", {
            "INFLUXDB_BIND_ADDRESS": f"127.0.0.1:{free_port()}",
            "INFLUXDB_HTTP_BIND_ADDRESS": f"127.0.0.1:{port}",
            "INFLUXDB_META_DIR": f"{folder}/meta",
            "INFLUXDB_DATA_DIR": f"{folder}/data",
            "INFLUXDB_DATA_WAL_DIR": f"{folder}/wal",
            "INFLUXDB_REPORTING_DISABLED": "true",
            "INFLUXDB_MONITOR_STORE_ENABLED": "false",
            "INFLUXDB_HTTP_LOG_ENABLED": "false",
            "INFLUXDB_DATA_QUERY_LOG_ENABLED": "false",
            "HOME": folder,
        })

    def stop(self):
        self.process.stop()

    def load(self, files):
        self.http.post("/query?q=CREATE+DATABASE+benchmark", b"")
        for body in line_batches(files.influx, 10_000):
            self.http.post("/write?db=benchmark&precision=ns", body)
        self.process.settle()

    def ask(self, request):
        return self.http.get("/query", {"db": "benchmark", "epoch": "ms", "q": self.query(request)})

    @staticmethod
    def query(request):
        where = f"WHERE time >= {request.start}ms AND time < {request.end}ms"
        if request.hosts:
            where += " AND (" + " OR ".join(f"hostname='{host}'" for host in request.hosts) + ")"
        fields = ",".join(request.metrics)
        if request.kind == "high":
            return f"SELECT {fields} FROM cpu {where} AND usage_user > 90 GROUP BY hostname"
        if request.kind == "last":
            return f"SELECT {fields} FROM cpu GROUP BY hostname ORDER BY time DESC LIMIT 1"
        if request.kind == "avg-host":
            means = ",".join(f"mean({m})" for m in request.metrics)
            return f"SELECT {means} FROM cpu {where} GROUP BY time(1h), hostname"
        width = "1h" if request.bucket == HOUR_MS else "1m"
        order = " ORDER BY time DESC LIMIT 5" if request.kind == "newest" else ""
        return f"SELECT {','.join(f'max({m})' for m in request.metrics)} FROM cpu {where} GROUP BY time({width}){order}"

    @staticmethod
    def parse(request, reply):
        answer = {}
        for series in json.loads(reply)["results"][0].get("series", []):
            host = series.get("tags", {}).get("hostname", "")
            for row in series["values"]:
                if request.kind in ("high", "last"):
                    answer[(host, row[0])] = tuple(float(v) for v in row[1:])
                    continue
                for metric, value in zip(request.metrics, row[1:]):
                    name = "" if request.kind == "newest" else f"{metric} {host}" if host else metric
                    answer[(name, row[0])] = (float(value),)
        return answer
