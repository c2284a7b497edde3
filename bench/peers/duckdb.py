"""DuckDB in a Node process: a wide table sorted by host and time, the requests in SQL."""

import json
import pathlib
import shutil
import subprocess

from tsbs import FIELDS


class DuckDb:
    name = "DuckDB"

    @staticmethod
    def available(peers):
        module = pathlib.Path(peers or ".") / "duck/node_modules/@duckdb/node-api"
        return str(module) if module.exists() and shutil.which("node") else None

    def __init__(self, peers, folder):
        script = pathlib.Path(__file__).with_name("duckdb.mjs")
        self.child = subprocess.Popen(["node", str(script), str(pathlib.Path(peers) / "duck"), f"{folder}/data.duckdb"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def stop(self):
        self.child.stdin.close()
        self.child.wait(20)

    def sql(self, text):
        self.child.stdin.write(json.dumps({"sql": text}) + "\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError(f"DuckDB ended at: {text[:200]}")
        return line

    def load(self, files):
        self.sql(f"CREATE TABLE cpu AS SELECT * FROM read_csv('{files.csv}') ORDER BY hostname, time_ms")
        self.sql("CHECKPOINT")

    def ask(self, request):
        line = self.sql(self.query(request))
        return json.loads(line)["ms"] / 1000, line

    @staticmethod
    def query(request):
        where = f"WHERE time_ms >= {request.start} AND time_ms < {request.end}"
        if request.hosts:
            where += " AND hostname IN (" + ",".join(f"'{host}'" for host in request.hosts) + ")"
        bucket = f"time_ms // {request.bucket} * {request.bucket}"
        fields = ",".join(request.metrics)
        if request.kind == "high":
            return f"SELECT hostname, time_ms, {fields} FROM cpu {where} AND usage_user > 90"
        if request.kind == "last":
            newest = ",".join(f"arg_max({m}, time_ms)" for m in FIELDS)
            return f"SELECT hostname, max(time_ms), {newest} FROM cpu GROUP BY hostname"
        if request.kind == "avg-host":
            means = ",".join(f"avg({m})" for m in request.metrics)
            return f"SELECT hostname, {bucket} AS bucket, {means} FROM cpu {where} GROUP BY ALL"
        order = " ORDER BY bucket DESC LIMIT 5" if request.kind == "newest" else ""
        return f"SELECT '', {bucket} AS bucket, {','.join(f'max({m})' for m in request.metrics)} FROM cpu {where} " \
               f"GROUP BY ALL{order}"

    @staticmethod
    def parse(request, reply):
        answer = {}
        for host, time, *values in json.loads(reply)["rows"]:
            if request.kind in ("high", "last"):
                answer[(host, time)] = tuple(float(v) for v in values)
                continue
            for metric, value in zip(request.metrics, values):
                name = "" if request.kind == "newest" else f"{metric} {host}" if host else metric
                answer[(name, time)] = (float(value),)
        return answer
