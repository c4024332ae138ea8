"""What scripts/real.sh needs beside the programs: texts, a port, clients of memcached, a server of one file."""

import http.server
import os
import random
import re
import socket
import sys
import threading
import time


def text(length):
    """Words, as compressible as a text is; the same every time."""
    dice = random.Random(1)
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(2, 9))) for _ in range(2000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    written = 0
    while written < length:
        line = (" ".join(dice.choices(words, weights, k=11)) + "\n")[: length - written]
        sys.stdout.write(line)
        written += len(line)


def port():
    """A port that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        print(probe.getsockname()[1])


class Client:
    """One connection to memcached, speaking its text protocol."""

    def __init__(self, number):
        deadline = time.monotonic() + 60
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", number), timeout=60)
                break
            except ConnectionRefusedError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self.stream = self.socket.makefile("rwb")

    def ask(self, command, data=None, end=None):
        """Sends a command and returns its answer: a line, or all lines up to `end`."""
        self.stream.write(command.encode() + b"\r\n")
        if data is not None:
            self.stream.write(data + b"\r\n")
        self.stream.flush()
        lines = []
        while True:
            line = self.stream.readline()
            if not line.endswith(b"\r\n"):
                raise EOFError(f"no answer to {command!r}")
            lines.append(line[:-2].decode())
            if end is None or lines[-1] == end:
                return " ".join(lines)

    def set(self, key, value):
        return self.ask(f"set {key} 0 0 {len(value)}", value)

    def get(self, key):
        return self.ask(f"get {key}", end="END")


def memcached(number):
    """Several clients at once, then what is left. Prints answers that do not depend on who was first."""
    rounds, count = 50, 4
    shared = Client(number)
    print(shared.set("counter", b"0"))
    answers = [[] for _ in range(count)]

    def work(me):
        client = Client(number)
        for turn in range(rounds):
            key = f"key-{me}-{turn}"
            value = (f"{me}:{turn} " * (1 + turn * 7)).encode()
            answers[me] += [client.set(key, value), client.get(key)]
            if turn % 3 == 0:
                answers[me] += [client.ask(f"delete {key}"), client.get(key)]
            if not client.ask("incr counter 1").isdigit():
                raise ValueError("the counter is gone")
            client.set("everybody's", value)
            if "VALUE" not in client.get("everybody's"):
                raise ValueError("what everybody writes is gone")
        answers[me].append("done")

    threads = [threading.Thread(target=work, args=(me,)) for me in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        if answer[-1:] != ["done"]:
            sys.exit("a client was not served")
        print("\n".join(answer))
    print(shared.get("counter"))
    if f" {rounds * count} " not in shared.get("counter"):
        sys.exit("the counter is not what was counted")


def serve(path, port_file):
    """Serves one file over HTTP, in parts if asked, to several at a time."""
    with open(path, "rb") as file:
        content = file.read()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, with_body):
            part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            first = int(part[1]) if part else 0
            last = min(int(part[2]), len(content) - 1) if part and part[2] else len(content) - 1
            self.send_response(206 if part else 200)
            if part:
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(last - first + 1))
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            if with_body:
                try:
                    self.wfile.write(content[first : last + 1])
                except OSError:
                    pass  # Who only asked for the size hangs up.

        def do_GET(self):
            self.answer(True)

        def do_HEAD(self):
            self.answer(False)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open(port_file + ".part", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(port_file + ".part", port_file)
    server.serve_forever()


def main():
    match sys.argv[1:]:
        case ["text", length]:
            text(int(length))
        case ["port"]:
            port()
        case ["memcached", number]:
            memcached(int(number))
        case ["serve", path, port_file]:
            serve(path, port_file)
        case _:
            sys.exit("usage: real.py text LENGTH | port | memcached PORT | serve FILE PORT_FILE")


main()
