"""A server of our own: started on a free loopback port in a folder of its own, ended by its process id."""

import http.client
import os
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.parse


def find_program(peers, name):
    """Path of a program below the peers' folder or in PATH; None when it is nowhere."""
    unpacked = pathlib.Path(peers) / "root/usr/bin" / name if peers else None
    if unpacked and unpacked.exists():
        return str(unpacked)
    return shutil.which(name)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    def __init__(self, command, folder, environment=None):
        self.log = open(pathlib.Path(folder) / "server.log", "wb")
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd=folder,
                                      env={**os.environ, **(environment or {})})

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self, seconds_max=90):
        """Waits until it has done what it does after loading: at most 2 % of a processor for three seconds."""
        deadline = time.monotonic() + seconds_max
        while time.monotonic() < deadline:
            before = self.cpu_seconds()
            time.sleep(3)
            if self.cpu_seconds() - before < 0.06:
                return

    def stop(self):
        self.child.terminate()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.log.close()


def start_and_wait(command, folder, port, ready_path, environment=None):
    """A server and a connection to it, once it answers; nothing is left running when it does not."""
    process = Process(command, folder, environment)
    http_connection = Http(port)
    try:
        http_connection.wait_ready(ready_path)
    except BaseException:
        process.stop()
        raise
    return process, http_connection


class Http:
    """One connection that is kept; a request's time is that from sending it to the last byte of the reply."""

    def __init__(self, port):
        self.port = port
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def wait_ready(self, path, seconds_max=60):
        deadline = time.monotonic() + seconds_max
        while True:
            try:
                self.get(path, {})
                return
            except (OSError, http.client.HTTPException, RuntimeError):
                self.connection.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def get(self, path, parameters):
        target = path + ("?" + urllib.parse.urlencode(parameters) if parameters else "")
        return self._exchange("GET", target, None, {})

    def post(self, path, body, headers=None):
        return self._exchange("POST", path, body, headers or {})

    def _exchange(self, method, target, body, headers):
        try:
            return self._once(method, target, body, headers)
        except (http.client.RemoteDisconnected, ConnectionError):  # it was idle for longer than the server waits
            self.connection.close()
            return self._once(method, target, body, headers)

    def _once(self, method, target, body, headers):
        start = time.perf_counter()
        self.connection.request(method, target, body, headers)
        response = self.connection.getresponse()
        text = response.read()
        seconds = time.perf_counter() - start
        if response.status >= 300:
            raise RuntimeError(f"{target[:200]}: {response.status} {text[:300]!r}")
        return seconds, text


def line_batches(path, lines_per_batch):
    """Pieces of a text file with so many lines each."""
    with open(path, "rb") as file:
        batch = []
        for line in file:
            batch.append(line)
            if len(batch) == lines_per_batch:
                yield b"".join(batch)
                batch = []
        if batch:
            yield b"".join(batch)
