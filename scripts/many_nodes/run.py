"""Runs the acceptance test of many nodes; `scripts/many-nodes.sh` starts it."""

import argparse
import http.client
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from calls import Calls, call, median  # noqa: E402
from database import Database  # noqa: E402
from nodes import Nodes  # noqa: E402
from processes import Failed, own, wait_for  # noqa: E402

ACCOUNTS = 8
CREDITS = 1_000_000
#: The failovers, in turn: all processes of the primary killed, by Patroni's command, frozen and woken.
KINDS = ("kill", "switchover", "freeze")


class Promises:
    """What must hold, and whether it does."""

    def __init__(self):
        self.broken = 0

    def holds(self, promise, is_so, more=""):
        print(f"{'ok    ' if is_so else 'BROKEN'} {promise}{f': {more}' if more else ''}", flush=True)
        self.broken += not is_so


def step(text):
    print(f"\n== {text}", flush=True)


def fail_over(kind, database):
    """Takes the primary away, waits for another member, and brings the old one back.

    Returns when the database can commit again: there is a primary and a synchronous standby.
    """
    old = database.leader()
    if kind == "switchover":
        database.switch_over()
    elif kind == "kill":
        old.kill()
        database.wait_for_other_leader(old)
        old.start()
    else:
        frozen = old.freeze()
        database.wait_for_other_leader(old)
        old.wake(frozen)
    database.wait_until_whole()


def kill_node(node, url):
    """Kills a node, and starts it again."""
    node.server.kill()
    time.sleep(1)
    node.start(url)
    node.wait_until_ready()


def rows(database):
    """The charges in the ledger: the number of rows and the credits, by request id."""
    found = {}
    statement = ("SELECT request_id, count(*), -sum(credits) FROM entry WHERE kind = 'charge' "
                 "GROUP BY request_id")
    for line in database.leader().sql(statement):
        request_id, count, credits = line.split("|")
        found[request_id] = (int(count), int(credits))
    return found


def compare(calls, database, nodes, promises):
    """Compares the answers with the ledger."""
    there = {name: row for name, row in rows(database).items() if name.startswith(calls.name + "-")}
    lost = [name for name in calls.answered if name not in there]
    doubled = [name for name, (count, _) in there.items() if count != 1]
    unequal = [name for name, credits in calls.answered.items()
               if name in there and there[name][1] != credits]
    unknown = set(there) - set(calls.answered) - calls.unanswered
    promises.holds("every answered charge is in the ledger", not lost,
                   f"{len(calls.answered)} answered, {len(lost)} lost {lost[:3]}")
    promises.holds("no charge is there twice", not doubled, f"{len(doubled)} {doubled[:3]}")
    promises.holds("each cost what its answer said", not unequal, f"{len(unequal)} others")
    promises.holds("nothing else was charged", not unknown, f"{len(unknown)} {list(unknown)[:3]}")
    promises.holds("every call was answered in the end", not calls.unanswered,
                   f"{len(calls.unanswered)} were not")
    promises.holds("callers saw 200 and 503 with Retry-After alone", not calls.broken,
                   f"{calls.statuses} {calls.broken[:3]}")
    try:
        verified = nodes.command("ledger", "verify").strip().splitlines()
        promises.holds("the ledger adds up", True, verified[-1] if verified else "")
    except Failed as error:
        promises.holds("the ledger adds up", False, str(error))


def measure(outages, kind, calls, act):
    """Does something to the servers under load, and notes the time without a charge."""
    calls.wait_for_more(20)
    begun = time.monotonic()
    act()
    whole = time.monotonic() - begun
    calls.wait_for_more(20)
    outage = calls.outage(begun)
    outages.setdefault(kind, []).append((outage, whole))
    print(f"      {kind}: {outage:.1f} s, whole after {whole:.1f} s", flush=True)


def under_failovers(options, database, nodes, keys, promises, outages):
    step(f"{options.failovers} failovers by Patroni, through HAProxy, and a node killed")
    calls = Calls(nodes.port, keys, "direct")
    for number in range(options.failovers):
        kind = KINDS[number % len(KINDS)]
        measure(outages, kind, calls, lambda: fail_over(kind, database))
    node = nodes.all[1]
    calls.may_be_closed = True
    measure(outages, "node killed", calls, lambda: kill_node(node, database.url()))
    calls.may_be_closed = False
    print(f"      calls whose connection was closed when the node was killed: {calls.closed}")
    used = database.leader().sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'enrich'")
    print(f"      {used[0]} connections of 3 nodes")
    if database.copied_anew:
        print(f"      standbys that did not follow and were copied anew: {database.copied_anew}")
    calls.end()
    compare(calls, database, nodes, promises)


def through_pooler(database, nodes, keys, promises, outages):
    step("The same through pgbouncer in transaction mode")
    nodes.restart(database.pooled_url())
    calls = Calls(nodes.port, keys, "pooled")
    measure(outages, "kill, pgbouncer", calls, lambda: fail_over("kill", database))
    calls.end()
    compare(calls, database, nodes, promises)
    nodes.restart(database.url())


def without_standby(database, nodes, keys, promises):
    step("Every standby is lost for 15 s")
    calls = Calls(nodes.port, keys, "alone")
    calls.wait_for_more(20)
    leader = database.leader()
    standbys = [member for member in database.members if member is not leader]
    for standby in standbys:
        standby.kill()
    time.sleep(3)
    before = calls.count()
    time.sleep(12)
    charged = calls.count() - before
    ready = [node.readiness().get("charging") for node in nodes.all]
    print(f"      nodes say charging: {ready}")
    promises.holds("without a standby nothing is acknowledged", charged == 0, f"{charged} charges")
    for standby in standbys:
        standby.start()
    database.wait_until_whole()
    calls.wait_for_more(20)
    calls.end()
    compare(calls, database, nodes, promises)


def charge_everywhere(nodes, keys, name):
    """Calls each node directly with each key, once. Returns the statuses, with Retry-After."""
    found = []
    for node in nodes.all:
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=60)
        for number, key in enumerate(keys):
            status, headers = call(connection, key, f"{name}-{node.name}-{number}")
            found.append((status, headers["Retry-After"] is not None))
    return found


def restored(database, nodes, keys, promises):
    step("A restore to a moment by pgBackRest")
    database.back_up("--type=full", "backup")
    charge_everywhere(nodes, keys, "before")
    time.sleep(1)
    [moment] = database.leader().sql("SELECT clock_timestamp()")
    time.sleep(1)
    charge_everywhere(nodes, keys, "after")
    port = database.restore(moment)
    # The restored database has no Patroni: ask it through the proxy's port.
    database.leader = lambda: database.members[0]
    database.members[0].port = port
    database.members[0].folder = database.folder
    there = rows(database)
    count = lambda name: sum(each.startswith(name) for each in there)
    expected = len(nodes.all) * len(keys)
    promises.holds("the restored ledger ends at the moment",
                   (count("before-"), count("after-")) == (expected, 0),
                   f"{count('before-')} charges before it, {count('after-')} after it")
    wait_for("nodes reach the restored database",
             lambda: all(node.readiness().get("store") for node in nodes.all))
    time.sleep(2)
    refused = charge_everywhere(nodes, keys, "older")
    promises.holds("nodes notice an older database and charge nothing",
                   all(each == (503, True) for each in refused), f"{sorted(set(refused))}")
    charging = [node.readiness().get("charging") for node in nodes.all]
    promises.holds("they are not ready", not any(charging), f"charging: {charging}")
    nodes.command("store", "accept-loss", "--yes", role="enrich_owner")
    begun = time.monotonic()
    nodes.wait_until_ready()
    print(f"      ready {time.monotonic() - begun:.1f} s after accept-loss")
    charged = charge_everywhere(nodes, keys, "accepted")
    promises.holds("after accept-loss they charge", all(status == 200 for status, _ in charged),
                   f"{sorted(set(charged))}")
    promises.holds("what was refused was not charged",
                   not any(name.startswith("older-") for name in rows(database)))
    nodes.command("ledger", "verify")


def table(outages):
    """Prints the seconds without a charge, and until all servers were there again."""
    failovers = [each for kind in KINDS for each in outages.get(kind, [])]
    if failovers:
        outages["all failovers"] = failovers
    print("\n| what | times | outage, median | longest | whole again, median |\n|---|---|---|---|---|")
    for kind, measured in outages.items():
        out, whole = zip(*measured)
        print(f"| {kind} | {len(out)} | {median(out):.1f} s | {max(out):.1f} s | {median(whole):.1f} s |")


def arguments():
    parser = argparse.ArgumentParser(prog="many-nodes.sh")
    parser.add_argument("--failovers", type=int, default=3, help="failovers by Patroni (3)")
    parser.add_argument("--members", type=int, default=2, help="members of the database (2)")
    parser.add_argument("--ttl", type=int, default=6, help="Patroni's ttl in seconds (6)")
    parser.add_argument("--enrich", help="the program; it is built without this")
    parser.add_argument("--keep", action="store_true", help="keep the folder with all logs")
    parser.add_argument("--folder", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def all_of_it(options, folder, promises, outages):
    step("A cluster, three nodes and their proxies")
    times = {"ttl": options.ttl, "loop_wait": 1, "retry_timeout": 2}
    (folder / "database").mkdir()
    database = Database(folder / "database", times, options.members)
    print(f"{options.members} members, ttl {options.ttl} s, loop_wait 1 s, retry_timeout 2 s")
    database.back_up("stanza-create")
    (folder / "nodes").mkdir()
    nodes = Nodes(folder / "nodes", options.enrich, database)
    nodes.wait_until_ready()
    keys = [nodes.account(f"Account {number}", CREDITS) for number in range(ACCOUNTS)]
    print(nodes.command("store", "check").strip())
    under_failovers(options, database, nodes, keys, promises, outages)
    through_pooler(database, nodes, keys, promises, outages)
    without_standby(database, nodes, keys, promises)
    restored(database, nodes, keys, promises)


def main():
    options = arguments()
    folder = pathlib.Path(options.folder)
    own(folder)
    promises, outages = Promises(), {}
    try:
        all_of_it(options, folder, promises, outages)
    except Failed as error:
        promises.holds("the test runs to its end", False, str(error))
    table(outages)
    sys.exit(1 if promises.broken else 0)


main()
