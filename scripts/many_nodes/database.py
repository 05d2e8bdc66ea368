"""etcd, the Patroni members, the proxy and the pooler before them, and backups."""

import json
import secrets
import subprocess
import time
import urllib.request

import yaml

import guide
from processes import (FREEZE, KILL, USER, WAKE, Failed, Server, as_user, descendants, free_ports, own,
                       run, send, wait_for)

BINARIES = "/usr/lib/postgresql/15/bin"


def answers(url, seconds=1):
    """Whether a page is there and its status is 200."""
    try:
        return urllib.request.urlopen(url, timeout=seconds).status == 200
    except OSError:
        return False


class Member:
    """A Patroni member: its process and PostgreSQL's."""

    def __init__(self, database, name):
        self.folder = database.folder / name
        self.folder.mkdir(mode=0o700)
        self.name = name
        self.port, self.rest = free_ports(2)
        self.data = self.folder / "data"
        self.backup_config = self.folder / "pgbackrest.conf"
        self.config = self.folder / "patroni.yml"
        self.backup_config.write_text(database.backup_config(self.data, self.port, self.folder))
        self.config.write_text(yaml.safe_dump(self.settings(database)))
        own(self.folder)
        self.patroni = None

    def settings(self, database):
        """The guide's settings with this run's addresses, folders, passwords and times."""
        settings = yaml.safe_load(guide.block("yaml", "synchronous_mode_strict"))
        settings["name"] = self.name
        address = f"127.0.0.1:{self.rest}"
        settings["restapi"] = {"listen": address, "connect_address": address}
        settings["etcd3"]["hosts"] = f"127.0.0.1:{database.etcd_port}"
        dcs = settings["bootstrap"]["dcs"]
        dcs.update(database.times)
        archive = f"pgbackrest --config={self.backup_config} --stanza=enrich archive-push %p"
        address = f"127.0.0.1:{self.port}"
        postgresql = settings["postgresql"]
        del dcs["postgresql"]["parameters"]["archive_command"]
        postgresql.update({
            "listen": address, "connect_address": address, "data_dir": str(self.data),
            "bin_dir": BINARIES, "use_unix_socket": True, "pgpass": str(self.folder / "pgpass"),
            "authentication": {
                "superuser": {"username": "postgres", "password": database.password},
                "replication": {"username": "replicator", "password": database.password},
            },
            "parameters": {
                "unix_socket_directories": str(self.folder), "archive_command": archive,
                "ssl": "on", "ssl_cert_file": str(database.certificate),
                "ssl_key_file": str(database.key), "shared_buffers": "64MB",
            },
            # All is on one machine here, and the superuser's name may be another.
            "pg_hba": [rule.replace("10.0.0.0/24", "127.0.0.1/32").replace(" peer", " trust")
                       for rule in postgresql["pg_hba"]],
        })
        return settings

    def start(self):
        if self.patroni:
            self.patroni.start()
        else:
            command = ["patroni", str(self.config)]
            self.patroni = Server(f"patroni-{self.name}", command, self.folder)

    def processes(self):
        """Patroni and all processes of PostgreSQL."""
        found = descendants(self.patroni.process.pid)
        try:
            found += descendants(int((self.data / "postmaster.pid").read_text().split()[0]))
        except (OSError, ValueError, IndexError):
            pass
        return found

    def kill(self):
        send(self.processes(), KILL)
        self.patroni.process.wait()

    def freeze(self):
        frozen = self.processes()
        send(frozen, FREEZE)
        return frozen

    def wake(self, frozen):
        """Wakes PostgreSQL, which takes itself for the primary until a new Patroni demotes it.

        The frozen Patroni is killed, as a watchdog would: version 3.0.2 takes the lead again with
        etcd3 when it wakes up, whoever has it by then.
        """
        self.patroni.kill()
        send(frozen, WAKE)
        time.sleep(1)
        self.start()

    def sql(self, statement, database="enrich"):
        """The lines that a statement prints."""
        command = [f"{BINARIES}/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-p",
                   str(self.port), "-U", "postgres", "-d", database, "-c", statement]
        return run(command).splitlines()


class Database:
    """The cluster and what is before it."""

    def __init__(self, folder, times, members):
        self.folder = folder
        self.times = times
        self.copied_anew = []
        self.password = secrets.token_hex(16)
        self.repository = folder / "backups"
        self.repository.mkdir(mode=0o700)
        self.make_certificates()
        own(folder)
        self.start_etcd()
        self.members = [Member(self, name) for name in
                        [f"db{number + 1}" for number in range(members)]]
        for member in self.members:
            member.start()
        self.wait_until_whole(120)
        self.proxy_port, self.pooler_port = free_ports(2)
        self.proxy = None
        self.lead_to([f"{member.name} 127.0.0.1:{member.port} check port {member.rest}"
                      for member in self.members])
        self.start_pooler()

    def make_certificates(self):
        """A certificate authority, and a certificate for the loopback address."""
        folder = self.folder
        self.authority, self.certificate = folder / "authority.pem", folder / "server.pem"
        self.key = folder / "server.key"
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        run_here = lambda command: subprocess.run(command, check=True, capture_output=True)
        run_here(["openssl", "req", "-x509", *curve, "-days", "2", "-subj", "/CN=test authority",
                  "-keyout", folder / "authority.key", "-out", self.authority])
        run_here(["openssl", "req", *curve, "-subj", "/CN=database", "-keyout", self.key,
                  "-out", folder / "server.csr"])
        extension = folder / "server.ext"
        extension.write_text("subjectAltName=IP:127.0.0.1\n")
        run_here(["openssl", "x509", "-req", "-days", "2", "-in", folder / "server.csr", "-CA",
                  self.authority, "-CAkey", folder / "authority.key", "-CAcreateserial", "-extfile",
                  extension, "-out", self.certificate])
        self.key.chmod(0o600)

    def start_etcd(self):
        self.etcd_port, peers = free_ports(2)
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{peers}"
        command = ["etcd", "--name", "e1", "--data-dir", str(self.folder / "etcd"),
                   "--listen-client-urls", client, "--advertise-client-urls", client,
                   "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                   "--initial-cluster", f"e1={peer}"]
        self.etcd = Server("etcd", command, self.folder)
        wait_for("etcd answers", lambda: answers(f"{client}/health"))

    def lead_to(self, servers):
        """Makes the proxy lead to these servers, at the port that it had."""
        if self.proxy:
            self.proxy.kill()
        config = self.folder / "database-proxy.cfg"
        config.write_text(guide.haproxy("listen database", self.proxy_port, servers))
        command = ["haproxy", "-db", "-f", str(config)]
        self.proxy = Server("database-proxy", command, self.folder)

    def start_pooler(self):
        users, config = self.folder / "userlist.txt", self.folder / "pgbouncer.ini"
        users.write_text(f'"enrich" "{self.password}"\n')
        values = {
            "enrich": f"host=127.0.0.1 port={self.proxy_port} dbname=enrich",
            "listen_port": self.pooler_port, "auth_file": users,
            "server_tls_ca_file": self.authority,
        }
        config.write_text(guide.ini("[pgbouncer]", values) + "unix_socket_dir =\n")
        own(users)
        own(config)
        self.pooler = Server("pgbouncer", ["pgbouncer", str(config)], self.folder)

    def url(self, role="enrich"):
        """The database through the proxy, encrypted."""
        return (f"postgres://{role}:{self.password}@127.0.0.1:{self.proxy_port}/enrich"
                f"?sslmode=verify-full&sslrootcert={self.authority}")

    def pooled_url(self):
        """The database through the pooler and the proxy."""
        return f"postgres://enrich:{self.password}@127.0.0.1:{self.pooler_port}/enrich?sslmode=disable"

    def roles(self):
        """The role of each member by name; a member that does not run is left out."""
        for member in self.members:
            try:
                page = urllib.request.urlopen(f"http://127.0.0.1:{member.rest}/cluster", timeout=1)
            except OSError:
                continue
            members = json.load(page).get("members", [])
            return {each["name"]: each["role"] for each in members if each["state"] in
                    ("running", "streaming")}
        return {}

    def leader(self):
        """The member whose Patroni says that it is the primary, or none."""
        for member in self.members:
            if answers(f"http://127.0.0.1:{member.rest}/primary"):
                return member
        return None

    def wait_until_whole(self, seconds=60):
        """Waits for a primary and a synchronous standby, and until all other members follow."""
        def is_whole():
            roles = list(self.roles().values())
            return (len(roles) == len(self.members) and roles.count("leader") == 1
                    and roles.count("sync_standby") == 1)
        try:
            wait_for("all members are there", is_whole, seconds)
        except Failed:
            self.copy_anew()
            wait_for("all members are there", is_whole, seconds)

    def copy_anew(self):
        """What the runbook says of a standby that does not follow: copies all of them anew."""
        leader = self.leader()
        if not leader:
            raise Failed("there is no primary")
        for member in self.members:
            if member is not leader and self.roles().get(member.name) != "sync_standby":
                run(["patronictl", "-c", str(leader.config), "reinit", "enrich", member.name,
                     "--force"])
                self.copied_anew.append(member.name)

    def wait_for_other_leader(self, old):
        """Waits until another member is the primary and is promoted."""
        def is_promoted(member):
            return (member is not old and answers(f"http://127.0.0.1:{member.rest}/primary")
                    and member.sql("SELECT pg_is_in_recovery()", "postgres") == ["f"])
        wait_for(f"a member takes over from {old.name}",
                 lambda: any(is_promoted(member) for member in self.members))

    def switch_over(self):
        old = self.leader()
        [new] = [name for name, role in self.roles().items() if role == "sync_standby"]
        run(["patronictl", "-c", str(old.config), "switchover", "enrich", "--leader", old.name,
             "--candidate", new, "--force"])

    def backup_config(self, data, port, sockets):
        """pgBackRest's configuration for a PostgreSQL folder."""
        values = {"repo1-path": self.repository, "pg1-path": data}
        return guide.ini("[global]", values) + (
            f"pg1-port={port}\npg1-socket-path={sockets}\npg1-user=postgres\n[global]\n"
            f"log-path={self.folder}\nlock-path={self.folder}\nspool-path={self.folder}\n"
            "log-level-console=warn\ncompress-level=1\n")

    def back_up(self, *command):
        """Runs pgBackRest on the primary."""
        leader = self.leader()
        return run(["pgbackrest", f"--config={leader.backup_config}", "--stanza=enrich", *command])

    def restore(self, moment):
        """Restores the backup to a moment, into a new folder, and starts PostgreSQL there."""
        leader = self.leader()
        leader.sql("SELECT pg_switch_wal()")
        self.back_up("check")
        data = self.folder / "restored"
        self.back_up(f"--pg1-path={data}", "--type=time", f"--target={moment}",
                     "--target-action=promote", "restore")
        for member in self.members:
            member.patroni.stop()
        [port] = free_ports(1)
        own(data)
        command = [f"{BINARIES}/postgres", "-D", str(data), "-c", f"port={port}", "-c",
                   "archive_mode=off", "-c", "synchronous_standby_names=", "-c",
                   f"unix_socket_directories={self.folder}"]
        Server("restored", command, self.folder)
        ready = [f"{BINARIES}/pg_isready", "-q", "-h", str(self.folder), "-p", str(port)]
        wait_for("the restored database answers",
                 lambda: subprocess.run(as_user(ready), check=False).returncode == 0, 120)
        self.lead_to([f"restored 127.0.0.1:{port} no-check"])
        return port
