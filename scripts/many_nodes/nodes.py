"""Three Enrich nodes and the proxy before them."""

import json
import os
import pathlib
import shutil
import urllib.request

import guide
from processes import Server, free_ports, own, run, wait_for

ROOT = pathlib.Path(__file__).parents[2]


class Node:
    """A server with its own folder."""

    def __init__(self, nodes, name):
        self.name = name
        self.nodes = nodes
        self.data = nodes.folder / name
        self.port, self.admin = free_ports(2)
        self.server = None

    def start(self, url):
        env = {
            "ENRICH_DATA": str(self.data), "ENRICH_STORE": url,
            "ENRICH_LISTEN": f"127.0.0.1:{self.port}",
            "ENRICH_ADMIN_LISTEN": f"127.0.0.1:{self.admin}",
            "ENRICH_MAX_CONNECTIONS_PER_ADDRESS": "0",
        }
        self.server = Server(self.name, [str(self.nodes.program), "serve"], self.nodes.folder, env)

    def readiness(self):
        """The page that the proxy asks for, parsed; empty if it doesn't answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/readyz", timeout=1) as page:
                return json.load(page)
        except urllib.error.HTTPError as error:
            return json.load(error)
        except OSError:
            return {}

    def wait_until_ready(self, seconds=60):
        wait_for(f"{self.name} is ready", lambda: self.readiness().get("ready"), seconds)


class Nodes:
    """All nodes, made as in the guide: one makes the tables and secret.key, the others copy it."""

    def __init__(self, folder, program, database):
        self.folder = folder
        self.database = database
        self.program = folder / "enrich"
        shutil.copy(program, self.program)
        self.program.chmod(0o755)
        self.all = [Node(self, f"node{number}") for number in (1, 2, 3)]
        first = self.all[0]
        first.data.mkdir(mode=0o700)
        own(folder)
        self.make_tables()
        for node in self.all[1:]:
            node.data.mkdir(mode=0o700)
            shutil.copy(first.data / "secret.key", node.data / "secret.key")
            own(node.data)
        files = [str(path) for path in sorted((ROOT / "fixtures/directory").glob("*.jsonl"))]
        copies = []
        for path in files:
            copies.append(shutil.copy(path, folder))
        for node in self.all:
            self.command("import", *copies, data=node.data)
        self.port = free_ports(1)[0]
        config = folder / "proxy.cfg"
        config.write_text(guide.haproxy("frontend enrich", self.port, [
            f"{node.name} 127.0.0.1:{node.port} port {node.admin}" for node in self.all]))
        for node in self.all:
            node.start(database.url())
        self.proxy = Server("proxy", ["haproxy", "-db", "-f", str(config)], folder)

    def make_tables(self):
        """The roles and the database, the tables, and the rights of the nodes."""
        password, leader = self.database.password, self.database.leader()
        for statement in guide.sql("CREATE ROLE", [password, password]):
            leader.sql(statement, database="postgres")
        print(self.command("store", "migrate", role="enrich_owner").strip())
        for statement in guide.sql("GRANT", []):
            leader.sql(f"SET ROLE enrich_owner; {statement}")

    def command(self, *arguments, role="enrich", data=None, url=None):
        """Runs a command of the program and returns its output."""
        env = {**os.environ, "ENRICH_DATA": str(data or self.all[0].data),
               "ENRICH_STORE": url or self.database.url(role)}
        return run([str(self.program), *arguments], env=env)

    def account(self, name, credits):
        """Creates an account and returns its key."""
        made = self.command("account", "create", name, "--credits", str(credits), "--json")
        return json.loads(made)["key"]

    def wait_until_ready(self):
        for node in self.all:
            node.wait_until_ready()

    def restart(self, url):
        for node in self.all:
            node.server.stop()
            node.start(url)
        self.wait_until_ready()
