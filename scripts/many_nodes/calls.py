"""Calls through the proxy, repeated only after a 503, and what was answered."""

import http.client
import json
import statistics
import threading
import time

from processes import wait_for

#: Pause before a repeat. The answer says `Retry-After: 1` or more; a shorter pause measures the outage.
PAUSE = 0.1
#: How long a call may go on, repeats included.
PATIENCE = 120


def call(connection, key, request_id):
    """One call that costs one credit. Returns its status and headers."""
    body = json.dumps({"apiKey": key, "companyName": "Telefónica"})
    connection.request("POST", "/v1/cuf", body, {
        "Content-Type": "application/json", "Idempotency-Key": request_id,
        "X-Request-Id": request_id})
    response = connection.getresponse()
    response.read()
    return response.status, response.headers


class Calls:
    """Threads that call, each call with an Idempotency-Key of its own."""

    def __init__(self, port, keys, name, threads=8):
        self.port, self.keys, self.name = port, keys, name
        self.lock = threading.Lock()
        self.answered = {}
        self.unanswered = set()
        self.charged_at = []
        self.statuses = {}
        self.broken = []
        #: Whether a node is being killed. HAProxy then closes a caller's connection without an answer if
        #: the node had not read the request; a client repeats such a call.
        self.may_be_closed = False
        self.closed = 0
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.go_on, args=(number,), daemon=True)
                        for number in range(threads)]
        for thread in self.threads:
            thread.start()

    def go_on(self, thread):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        number = 0
        while not self.is_over.is_set():
            number += 1
            request_id = f"{self.name}-{thread}-{number}"
            key = self.keys[(thread + number) % len(self.keys)]
            self.ask(connection, key, request_id)
            time.sleep(0.01)

    def ask(self, connection, key, request_id):
        begun = time.monotonic()
        while time.monotonic() < begun + PATIENCE:
            try:
                status, headers = call(connection, key, request_id)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if self.may_be_closed and isinstance(error, http.client.RemoteDisconnected):
                    with self.lock:
                        self.closed += 1
                else:
                    self.note_broken(f"{request_id}: {error!r}")
                time.sleep(PAUSE)
                continue
            with self.lock:
                self.statuses[status] = self.statuses.get(status, 0) + 1
                if status == 200:
                    is_replayed = headers["Idempotency-Replayed"] == "true"
                    self.answered[request_id] = 1 if is_replayed else int(headers["x-credits-used"])
                    self.charged_at.append(time.monotonic())
                    return
            if status != 503:
                self.note_broken(f"{request_id}: status {status}")
            elif "Retry-After" not in headers:
                self.note_broken(f"{request_id}: 503 without Retry-After")
            time.sleep(PAUSE)
        with self.lock:
            self.unanswered.add(request_id)

    def note_broken(self, what):
        with self.lock:
            self.broken.append(what)

    def count(self):
        with self.lock:
            return len(self.charged_at)

    def wait_for_more(self, count, seconds=60):
        """Waits until so many more calls have been charged."""
        goal = self.count() + count
        wait_for(f"{count} more calls are charged", lambda: self.count() >= goal, seconds)

    def outage(self, since):
        """The longest time between two charges, from the last one before `since` on."""
        with self.lock:
            times = sorted(self.charged_at)
        before = [time for time in times if time <= since][-1:]
        times = before + [time for time in times if time > since]
        return max((after - before for before, after in zip(times, times[1:])), default=0)

    def end(self):
        """Lets the calls that are under way come to their end."""
        self.is_over.set()
        for thread in self.threads:
            thread.join(PATIENCE + 60)


def median(seconds):
    return statistics.median(seconds) if seconds else 0
