"""Starts servers as an unprivileged user, and kills, freezes and wakes them."""

import os
import pathlib
import pwd
import signal
import socket
import subprocess
import time

IS_ROOT = os.getuid() == 0
USER = pwd.getpwnam("postgres") if IS_ROOT else pwd.getpwuid(os.getuid())


class Failed(Exception):
    """The test cannot go on."""


def free_ports(count):
    """Ports of the loopback address that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def as_user(command):
    """The command, run as the unprivileged user. PostgreSQL refuses root."""
    if not IS_ROOT:
        return command
    drop = ["setpriv", f"--reuid={USER.pw_uid}", f"--regid={USER.pw_gid}", "--clear-groups"]
    return [*drop, *command]


def own(path):
    """Gives a file or folder, with all in it, to the unprivileged user."""
    if IS_ROOT:
        for each in [path, *pathlib.Path(path).rglob("*")]:
            os.chown(each, USER.pw_uid, USER.pw_gid)


def run(command, **options):
    """Runs a command to its end and returns its output."""
    done = subprocess.run(as_user(command), capture_output=True, text=True, cwd="/", **options)
    if done.returncode != 0:
        raise Failed(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout


def wait_for(what, is_so, seconds=60):
    """Waits until `is_so` returns something true, and returns that."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := is_so():
            return found
        time.sleep(0.05)
    raise Failed(f"waited {seconds} s in vain until {what}")


class Server:
    """A server process with a log."""

    def __init__(self, name, command, folder, env=None):
        self.name = name
        self.command = command
        self.log = folder / f"{name}.log"
        self.env = {**os.environ, "HOME": str(folder), **(env or {})}
        self.process = None
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                as_user(self.command), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env=self.env, cwd="/", start_new_session=True)

    def is_alive(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, seconds=30):
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()


def descendants(parent):
    """The processes below a process, itself included."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path("/proc", entry, "stat").read_text()
            except OSError:
                continue
            above = int(stat.rpartition(")")[2].split()[1])
            children.setdefault(above, []).append(int(entry))
    found, open_ones = [], [parent]
    while open_ones:
        process = open_ones.pop()
        found.append(process)
        open_ones.extend(children.get(process, []))
    return found


def send(processes, number):
    """Sends a signal to processes; those that are gone are left out."""
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            pass


FREEZE, WAKE, KILL = signal.SIGSTOP, signal.SIGCONT, signal.SIGKILL
