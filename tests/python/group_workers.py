"""Processes on this machine that form a group, under the tracker of the stock package.

As a program it is one worker: it reads requests (a function of a module, and its arguments) from its standard input,
and answers on its standard output. A worker serves many groups, one after the other.
"""

import contextlib
import importlib
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from support import SERIES

HERE = os.path.dirname(os.path.abspath(__file__))

#: Seconds after which a group hangs, on a machine however slow.
PATIENCE = 600
#: Seconds within which a group that notices a loss has ended, on a slow machine, too. XGBoost's own limit is 1800.
SOON = 60


#: What the communicator calls a worker's name and its time limit.
TASK, TIME_LIMIT = ("DMLC_TASK_ID", "rabit_timeout_sec") if SERIES < 200 else ("dmlc_task_id", "dmlc_timeout")


def tracker_of(workers: int, address: str = "127.0.0.1") -> Tuple[Any, Dict[str, Any]]:
    """A tracker that runs, and the settings of communicators that find it."""
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(host_ip=address, n_workers=workers, sortby="task")
    if SERIES < 200:
        tracker.start(workers)
        return tracker, tracker.worker_envs()
    tracker.start()
    return tracker, tracker.worker_args()


def wait_for(tracker: Any) -> None:
    """Waits until all workers have left the group of the tracker."""
    if SERIES < 200:
        tracker.join()
    else:
        tracker.wait_for()


class Died(Exception):
    """A worker has ended in the middle of a request."""


class WorkerError(Exception):
    """What a worker raised, in words."""


class _Worker:
    def __init__(self, where: Sequence[str]) -> None:
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        self.process = subprocess.Popen(
            [*where, sys.executable, "-B", os.path.abspath(__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**environment, "OMP_WAIT_POLICY": "passive"},
        )

    def send(self, request: Any) -> None:
        pickle.dump(request, self.process.stdin)
        self.process.stdin.flush()

    def answer(self) -> Any:
        """Returns the result, or the exception, of the last request."""
        try:
            return pickle.load(self.process.stdout)
        except EOFError:
            return Died()


class Group:
    """Workers that can be made a group again and again."""

    def __init__(
        self, workers: int, commands: Optional[List[List[str]]] = None, tracker_address: str = "127.0.0.1"
    ) -> None:
        """`commands` has, for each worker, the command that starts programs where the worker shall run."""
        self.workers = [_Worker(where) for where in commands or [[]] * workers]
        self.tracker_address = tracker_address
        self.seconds: List[float] = []  #: of the last request, for each worker

    def run(
        self,
        function: Callable,
        *arguments: Any,
        limit: float = PATIENCE,
        ranks: Optional[Sequence[int]] = None,
        silence: Optional[int] = None,
        **settings: Any,
    ) -> List[Any]:
        """Calls a function of a module in every worker, as a group whose communicator has these settings.

        `ranks` has the rank that each worker gets; unless it is given, the first is 0. `silence` is the communicator's
        time limit in seconds. Returns results in order of workers; exceptions, too. After `limit` seconds the workers
        are killed.
        """
        tracker, communicator = tracker_of(len(self.workers), self.tracker_address)
        communicator.update(settings)
        if silence is not None:
            communicator[TIME_LIMIT] = silence
        answers: List[Any] = [None] * len(self.workers)
        self.seconds = [0.0] * len(self.workers)
        begin = time.monotonic()

        def ask(number: int) -> None:
            own = {**communicator, TASK: f"{ranks[number] if ranks else number:04}"}
            self.workers[number].send((function.__module__, function.__name__, arguments, own))
            answers[number] = self.workers[number].answer()
            self.seconds[number] = time.monotonic() - begin

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(self.workers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, begin + limit - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            silent = [number for number, thread in enumerate(threads) if thread.is_alive()]
            self.end()
            raise AssertionError(f"workers {silent} have not answered within {limit} seconds")
        return answers

    def results(self, function: Callable, *arguments: Any, **others: Any) -> List[Any]:
        """As run, where nobody may fail."""
        answers = self.run(function, *arguments, **others)
        for number, answer in enumerate(answers):
            assert not isinstance(answer, Exception), f"worker {number}: {answer!r}\n{answer}"
        return answers

    @property
    def lives(self) -> bool:
        return all(worker.process.poll() is None for worker in self.workers)

    def end(self) -> None:
        for worker in self.workers:
            worker.process.kill()
            worker.process.wait()
            worker.process.stdin.close()
            worker.process.stdout.close()


@contextlib.contextmanager
def group_of(workers: int) -> Iterator[Group]:
    group = Group(workers)
    try:
        yield group
    finally:
        group.end()


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what XGBoost prints is no answer
    sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "python")]
    import conftest  # noqa: F401  (loads the library)
    from group_workers import WorkerError  # not the one of __main__, which the test does not know
    from xgboost import collective

    while True:
        try:
            module, name, arguments, communicator = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: Any
        try:
            function = getattr(importlib.import_module(module), name)
            with collective.CommunicatorContext(**communicator):
                answer = function(*arguments)
        except Exception as error:  # told to the test
            answer = WorkerError(f"{error}\n{traceback.format_exc()}" if "XGBGPU_TEST_TRACE" in os.environ else str(error))
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    _serve()
