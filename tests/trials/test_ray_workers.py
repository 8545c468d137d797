"""Workers on a Ray cluster: outcomes are those of worker processes, and what is lost is replaced. Skipped without Ray."""

import os
import signal
import socket
import sys
import threading
import time
import warnings

import pytest

from infimum.blackbox.callables import PythonFunctions
from infimum.blackbox.command import Command
from infimum.blackbox.journal import Journal, read_journal
from infimum.blackbox.outcome import OutcomeKind
from infimum.blackbox.recorded_trials import Recorded
from infimum.blackbox.variables import Variables
from infimum.errors import OptionError, TrialError
from infimum.parallel import ray_cluster
from infimum.parallel.worker_start import start_workers
from tests import children
from tests.trials import black_boxes
from tests.trials.test_workers import PLANE, ROOT, alive, box, descendants, gone, posix

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ray = pytest.importorskip("ray")
pytestmark = [posix, pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of Ray's own pipes
              pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]
WIDE = Variables.read([(0, 11), (-1, 1)])


@pytest.fixture(scope="module")
def nodes():
    """A cluster of two nodes with a processor each, to which this process is connected; what can add and remove nodes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.cluster_utils import Cluster
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False,
                                                             "ray_client_server_port": port})
        made.for_clients = f"ray://127.0.0.1:{port}"
        made.second = made.add_node(num_cpus=1)
        ray.init(address=made.address, log_to_driver=False, logging_level="error")
        yield made
        ray.shutdown()
        made.shutdown()


def host_of(x):
    """The process of the actor that watches this one, or nothing for a long time."""
    if x[0] >= 5:
        time.sleep(60)
    return float(os.getppid())


def test_outcomes_are_those_of_processes(nodes, tmp_path):
    """Crashes, timeouts, exceptions, in the order of the points, with the same texts and the numbers computed before."""
    points = [(what, 0.5) for what in (0, 2, 0, 3, 4, 10, 1, 6, 7, 8, 5, 0)]
    tried = box(black_boxes.by_first, [black_boxes.allowed], WIDE)
    with start_workers(tried, 2, timeout=2.0) as workers:
        expected = workers.run(points)
    with start_workers(tried, "ray", timeout=2.0) as workers, Journal.create(tmp_path / "run.jsonl", tried.describe()) as journal:
        assert workers.count == 2
        found = Recorded(workers, journal).run(points[:1]) + workers.run(points[1:])
        workers.close()
        with pytest.raises(OptionError, match="are closed"):
            workers.submit((0, 0))
    assert found == expected and {o.kind for o in found} == set(OutcomeKind)
    assert 2.0 <= found[-2].seconds < 30 and [t.outcome for t in read_journal(tmp_path / "run.jsonl").trials] == expected[:1]
    assert ray.is_initialized()  # it was before


CLIENT = """
import sys
from infimum.parallel.worker_start import start_workers
from tests.trials import black_boxes
from tests.trials.test_workers import box
from infimum.blackbox.variables import Variables
if __name__ == "__main__":
    tried = box(black_boxes.by_first, [black_boxes.allowed], Variables.read([(0, 11), (-1, 1)]))
    points = [(what, 0.5) for what in (0, 2, 3, 4, 0)]
    with start_workers(tried, 2, timeout=60) as workers:
        expected = workers.run(points)
    with start_workers(tried, sys.argv[1], timeout=60) as workers, start_workers(tried, sys.argv[1], timeout=60):
        print(workers.run(points) == expected)
"""


def test_from_outside_the_cluster(nodes, tmp_path):
    """By Ray Client, in a process that is no part of the cluster; two sets of workers share a connection."""
    (tmp_path / "client.py").write_text(CLIENT)
    done = children.run(sys.executable, "-W", "ignore", tmp_path / "client.py", nodes.for_clients,
                        env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.stdout.split() == ["True"], done.stderr


def test_functions_travel_and_rounds_keep_their_order(nodes, tmp_path):
    """Lambdas and what they hold; the first trial waits for the second."""
    word = tmp_path / "word"

    def waits(x):
        while x[0] == 9 and not word.exists():
            time.sleep(0.001)
        if x[0] == 1:
            word.touch()
        return x[1]
    with start_workers(box(waits, [lambda x: -abs(x[1])]), "auto") as workers:
        assert [o.values for o in workers.run([(9, 0.25), (1, 0.5)])] == [(-0.25, 0.25), (-0.5, 0.5)]
        word.unlink()
        tickets = [workers.submit(x) for x in [(9, 0.25), (0, 0.5)]]
        assert workers.next_finished().ticket == tickets[1] and workers.next_finished(0.02) is None
        word.touch()
        assert workers.next_finished().ticket == tickets[0] and workers.outstanding == 0


def test_a_lost_actor_costs_its_trial_and_an_idle_one_nothing(nodes):
    with start_workers(box(host_of), nodes.address) as workers:
        hosts = {int(o.value) for o in workers.run([(0, 0)] * 8)}
        for pid in hosts:
            os.kill(pid, signal.SIGKILL)
        assert gone(hosts)
        while workers._messages.empty():  # until Ray says so
            time.sleep(0.01)
        time.sleep(0.5)
        others = {int(o.value) for o in workers.run([(0, 0)] * 8)}
        assert others and not others & hosts
        tickets = [workers.submit(x) for x in [(0, 0), (0, 0), (5, 0), (5, 0)]]
        first = dict(workers.next_finished() for _ in range(2))
        time.sleep(0.5)
        for pid in {int(o.value) for o in first.values()}:
            os.kill(pid, signal.SIGKILL)
        lost = workers.next_finished()
        assert lost.ticket in tickets[2:] and lost.outcome.kind is OutcomeKind.CRASH
        assert lost.outcome.text == "the worker was lost, with its node or without it" and lost.outcome.index == 1
        workers.submit((0, 0))
        assert int(workers.next_finished().outcome.value or 0) not in hosts


def test_nothing_is_left_behind(nodes, tmp_path):
    """Neither workers nor what they have started, of functions and of commands."""
    pids = tmp_path / "pids"

    def leaves_a_child(x):
        os.environ["INFIMUM_TEST_PIDS"] = str(pids)
        return black_boxes.leaves_a_child(x)
    script = tmp_path / "sim.py"
    script.write_text("import os, sys, time\nopen(sys.argv[1], 'a').write(f'{os.getpid()} {os.getpid()}\\n')\ntime.sleep(60)\n")
    for tried in (box(leaves_a_child), Command([sys.executable, str(script), str(pids), "{x}"], PLANE)):
        with start_workers(tried, "ray") as workers:
            workers.submit((0, 0))
            while not pids.exists() or not pids.read_text().endswith("\n"):
                assert workers.next_finished(0.02) is None
            started = [int(word) for word in pids.read_text().split()]
            assert all(map(alive, started))
        assert gone(started)
        pids.unlink()


def test_commands(nodes):
    command = Command("expr {x0} + {x1}", Variables.read([(0, 9), (0, 9)], integrality=1))
    with start_workers(command, "ray", timeout=60) as workers:
        assert [o.value for o in workers.run([(1, 2), (3, 4), (5, 6)])] == [3, 7, 11]


def test_what_cannot_be_sent_or_used(nodes, tmp_path, monkeypatch):
    lock = threading.Lock()
    with pytest.raises(TrialError, match="Constraint 0 .* cannot be sent to other machines: .*lock.* within the function"):
        start_workers(box(black_boxes.bowl, [lambda x: lock.locked() - 1.0]), "ray")
    (tmp_path / "only_here.py").write_text("def cost(x):\n    return 0.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here
    with start_workers(box(only_here.cost), "ray") as workers:
        assert workers.run([(0, 0)])[0].value == 0.0  # nodes look where this process does
    (tmp_path / "only_here.py").unlink()
    with start_workers(box(only_here.cost), "ray") as workers, \
            pytest.raises(TrialError, match="cannot be used on a node of the cluster: .*only_here.*installed on every node"):
        workers.run([(0, 0)])


def test_another_cluster_is_not_mixed_up(nodes):
    with pytest.raises(OptionError, match="connected to a Ray cluster already, .*workers=\"ray\""):
        start_workers(box(black_boxes.bowl), "10.0.0.1:6379")
    with pytest.raises(OptionError, match="connected to a Ray cluster already"):
        start_workers(box(black_boxes.bowl), "ray://10.0.0.1:10001")
    assert ray.is_initialized() and ray_cluster._joined == 0


def test_other_versions_are_refused(nodes, monkeypatch):
    with start_workers(box(black_boxes.bowl), "ray") as workers:
        monkeypatch.setattr("infimum.__version__", "0.0.1")
        with pytest.raises(TrialError, match="a node of the cluster has infimum .*, and this process 0.0.1"):
            workers.run([(0, 0)])


def test_a_run_ends_where_no_worker_is_ready(nodes, monkeypatch):
    """All processors are taken by somebody else."""
    with start_workers(box(black_boxes.bowl), "ray") as taken:
        taken.run([(0, 0)] * 2)
        monkeypatch.setattr("infimum.parallel.ray_workers._START_SECONDS", 0.5)
        with start_workers(box(black_boxes.bowl), "ray") as workers, pytest.raises(TrialError, match="no worker was ready"):
            workers.run([(0, 0)])


def test_a_node_that_does_not_answer_is_given_up(nodes, monkeypatch):
    """Its processes are stopped in the middle of a trial, as those of a machine that hangs."""
    with start_workers(box(host_of), "ray", timeout=1.0) as workers:
        while not all(one.ready for one in workers._workers):
            workers.run([(0, 0)])
        hosts = {int(o.value) for o in workers.run([(0, 0)] * 8)}
        monkeypatch.setattr("infimum.parallel.ray_workers._NO_ANSWER", 0.5)
        workers.submit((5, 0))
        for pid in hosts:
            os.kill(pid, signal.SIGSTOP)
        outcome = workers.next_finished().outcome
        assert outcome.kind is OutcomeKind.TIMEOUT and outcome.text == "killed after 1 s; its node does not answer"
        for pid in hosts:
            if alive(pid):
                os.kill(pid, signal.SIGCONT)


def test_an_actor_that_is_frozen_is_given_up_without_a_timeout_too(nodes, monkeypatch):
    """One that is asked and answers is not, however long its trial takes."""
    monkeypatch.setattr("infimum.parallel.ray_workers._ASKED", 0.5)
    monkeypatch.setattr("infimum.parallel.ray_workers._SILENT", 3.0)
    with start_workers(box(host_of), "ray") as workers:
        while not all(one.ready for one in workers._workers):
            workers.run([(0, 0)])
        frozen = min({int(o.value) for o in workers.run([(0, 0)] * 8)})
        tickets = [workers.submit((5, 0)), workers.submit((5, 0))]
        os.kill(frozen, signal.SIGSTOP)
        lost = workers.next_finished()
        assert lost.ticket in tickets and lost.outcome.kind is OutcomeKind.CRASH
        assert lost.outcome.text == "the worker was lost: its node does not answer"
        assert workers.next_finished(4.0) is None and workers.outstanding == 1
        assert gone([frozen], 30)  # Ray kills it after a while


SCRIPT = """
import os, sys, time
from infimum.blackbox.callables import PythonFunctions
from infimum.parallel.worker_start import start_workers
from infimum.blackbox.variables import Variables

PIDS = sys.argv[1]

def slow(x):
    with open(PIDS, "a") as file:
        file.write(f"{os.getpid()} {os.getppid()}\\n")
    time.sleep(60)

try:  # no guard is needed: workers do not import the script
    with start_workers(PythonFunctions(lambda x: slow(x) if x[0] else 0.5, Variables.read([(0, 1)])), "ray") as workers:
        print([outcome.value for outcome in workers.run([[0]])], flush=True)
        workers.run([[1]])
except KeyboardInterrupt:
    import ray
    print("stopped", ray.is_initialized())
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_local_cluster_ends_with_its_run(how, tmp_path):
    """Ctrl-C as a terminal sends it, to the whole group; and a kill of the main process alone."""
    script, pids = tmp_path / "script.py", tmp_path / "pids"
    script.write_text(SCRIPT)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    process = children.start(sys.executable, script, pids, env={**clean, "PYTHONPATH": str(ROOT)}, start_new_session=True)
    assert process.stdout.readline() == "[0.5]\n"
    while not pids.exists() or not pids.read_text().endswith("\n"):
        assert process.poll() is None
        time.sleep(0.01)
    ours, started = [int(word) for word in pids.read_text().split()], descendants(process.pid)
    assert set(ours) < set(started) and all(map(alive, ours))
    if how == signal.SIGINT:
        os.killpg(process.pid, how)
    else:
        process.kill()
    out, errors = process.communicate(timeout=60)
    assert errors == "" and out == ("stopped False\n" if how == signal.SIGINT else "")
    assert gone(started if how == signal.SIGINT else ours, 30)  # agents of Ray's own outlive a kill by a minute


def test_a_lost_node(nodes):
    """Its trial is a crash, and its worker is there again when a node is. The last test: it changes the cluster."""
    with start_workers(PythonFunctions(host_of, PLANE), "ray") as workers:
        workers.run([(0, 0)] * 8)
        tickets = [workers.submit((5, 0)) for _ in range(2)]
        assert workers.next_finished(0.5) is None
        nodes.remove_node(nodes.second, allow_graceful=False)
        lost = workers.next_finished()
        assert lost.ticket in tickets and lost.outcome.kind is OutcomeKind.CRASH
        nodes.second = nodes.add_node(num_cpus=1)
        workers.submit((0, 0))
        assert workers.next_finished().outcome.value > 0
