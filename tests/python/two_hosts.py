"""Two hosts on this machine, each with a worker of a process group, and a cable between them that can be pulled.

Hosts are network namespaces, and the tracker is on a third one that both reach by cables of their own:

                     tracker
         10.77.0.1 /         \\ 10.77.1.1
                  /           \\
        10.77.0.2               10.77.1.2
         host 0 ================= host 1
              10.78.0.1    10.78.0.2

A worker is known to the other by the address under which the tracker sees it. Routes lead there over the cable between
the hosts, and nowhere else.

As a program, this makes the network inside of namespaces of its own, which end with it: nothing of the machine's network
changes, and root's rights are needed only where users may not make namespaces. It writes what it found to its standard
output. A test calls `found()`.
"""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List

HERE = os.path.dirname(os.path.abspath(__file__))

#: What the workers train together.
SCENARIOS = ["logistic with weights", "categories", "absolute error with weights"]
SHARES = [0, 0.3, 1]
TIMEOUT = 3  #: the communicator's limit in seconds while the cable is pulled
PULLS = 2  #: how often it is pulled


class NoNamespaces(Exception):
    """This machine does not let us make the network."""


def found() -> Dict[str, Any]:
    """Returns what `_main` found. Raises NoNamespaces where there can be no such network."""
    if shutil.which("ip") is None:
        raise NoNamespaces("network namespaces need the program ip (Debian's package iproute2)")
    alone = ["unshare", "--net", "--mount", "--fork", "--kill-child"]
    reasons = []
    for unshare in ([*alone, "--user", "--map-root-user"], alone):
        can = subprocess.run([*unshare, "sh", "-c", _NETWORK], capture_output=True, text=True, timeout=600)
        if can.returncode == 0:
            break
        reasons.append((can.stderr.strip().splitlines() or ["no reason given"])[-1])
    else:
        raise NoNamespaces(f"no network namespaces can be made here: {'; '.join(reasons)}")
    program = [*unshare, sys.executable, "-B", os.path.abspath(__file__)]
    done = subprocess.run(program, stdout=subprocess.PIPE, timeout=1800, check=True)
    return pickle.loads(done.stdout)


#: The network. Names of namespaces are files in /run, which is an empty folder here.
_NETWORK = """
set -e
mount -t tmpfs none /run
echo 0 > /proc/sys/net/ipv4/ip_forward
ip link set lo up
for host in 0 1; do
  ip netns add host$host
  ip -n host$host link set lo up
  ip link add tracker$host type veth peer name tracker netns host$host
  ip addr add 10.77.$host.1/24 dev tracker$host
  ip link set tracker$host up
  ip -n host$host addr add 10.77.$host.2/24 dev tracker
  ip -n host$host link set tracker up
done
ip -n host0 link add other type veth peer name other netns host1
ip -n host0 addr add 10.78.0.1/24 dev other
ip -n host1 addr add 10.78.0.2/24 dev other
ip -n host0 link set other up
ip -n host1 link set other up
ip -n host0 route add 10.77.1.2 via 10.78.0.2
ip -n host1 route add 10.77.0.2 via 10.78.0.1
ip -n host1 route add 10.77.0.1 via 10.77.1.1
"""


def _slow_cable() -> None:
    """Lets messages take so long that a pull comes in the middle of one, after whose beginning XGBoost knows no limit.

    Where the kernel has no slow queues, a pull may as well come between two messages.
    """
    for host in (0, 1):
        slow = "root tbf rate 50mbit burst 16kb latency 100ms".split()
        subprocess.run(["tc", "-n", f"host{host}", "qdisc", "add", "dev", "other", *slow])


def _cable(state: str) -> None:
    """Pulls the cable between the hosts ("down"), or plugs it in ("up")."""
    subprocess.run(["ip", "-n", "host0", "link", "set", "other", state], check=True)
    if state == "up":  # the route went with the cable
        subprocess.run(["ip", "-n", "host0", "route", "add", "10.77.1.2", "via", "10.78.0.2"], check=True)
        for host in (0, 1):
            subprocess.run(["tc", "-n", f"host{host}", "qdisc", "del", "dev", "other", "root"])


def _pulled(group: Any) -> Dict[str, Any]:
    """Pulls the cable in the middle of a training. Returns what the workers say, and how long after that."""
    import group_scenarios

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        how = dict(silence=TIMEOUT)
        begin = time.monotonic()
        training = pool.submit(group.run, group_scenarios.trains_until_it_fails, SHARES, folder, **how)
        while len(os.listdir(folder)) < 2 and not training.done():
            time.sleep(0.01)
        _slow_cable()
        time.sleep(0.3)
        pulled = time.monotonic()
        _cable("down")
        answers = training.result()
        _cable("up")
    return {"answers": answers, "seconds": [begin + seconds - pulled for seconds in group.seconds]}


def _main() -> Dict[str, Any]:
    """Trains together, pulls the cable in the middle of trainings, and trains together again."""
    import group_scenarios
    from group_workers import Group

    subprocess.run(["sh", "-c", _NETWORK], check=True)
    commands = [["ip", "netns", "exec", f"host{host}"] for host in (0, 1)]
    group = Group(2, commands, tracker_address="10.77.0.1")
    scenarios = [{**group_scenarios.SCENARIOS[name], "name": name} for name in SCENARIOS]

    def together() -> List[Any]:
        return group.run(group_scenarios.several, scenarios, SHARES, silence=60)

    try:
        return {"together": together(), "pulled": [_pulled(group) for _ in range(PULLS)], "again": together()}
    finally:
        group.end()


if __name__ == "__main__":
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what XGBoost prints is no answer
    sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "python")]
    pickle.dump(_main(), answer)
    answer.flush()
