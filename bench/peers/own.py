"""Our engine, in the process of bench/tsbs_run: as its background jobs left the files, and compacted."""

import subprocess


class Own:
    name = "tsdb"
    flags = []

    def __init__(self, program, hosts, seconds):
        self.child = subprocess.Popen([program, "serve", "--hosts", str(hosts), "--seconds", str(seconds), *self.flags],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.child.stdout.readline() != "ready\n":
            raise RuntimeError(f"{program} did not start")

    def stop(self):
        self.child.stdin.close()
        self.child.wait(20)

    def ask(self, request):
        hosts = ",".join(request.hosts) or "-"
        self.child.stdin.write(f"{request.query} {request.start} {request.end} {hosts}\n")
        self.child.stdin.flush()
        head = self.child.stdout.readline().split()
        if len(head) != 2:
            raise RuntimeError(f"tsbs_run ended at: {request}")
        return int(head[0]) / 1e9, [self.child.stdout.readline() for _ in range(int(head[1]))]

    @staticmethod
    def parse(request, lines):
        answer = {}
        width = len(request.metrics) if request.kind in ("high", "last") else 1
        for line in lines:
            words = line.split()
            name = " ".join(words[:-width - 1])
            answer[(name, int(words[-width - 1]))] = tuple(float(v) for v in words[-width:])
        return answer


class OwnCompacted(Own):
    name = "tsdb compacted"
    flags = ["--compacted"]
