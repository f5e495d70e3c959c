"""Callbacks for ``xgboost.train`` and the estimators of ``xgboost.sklearn``."""

import inspect
import numbers
import sys
import time
from typing import Any, Dict, List, Optional, TextIO

import xgboost

from . import TrainingMemory, memory_report

__all__ = ["ProgressBar"]


class ProgressBar(xgboost.callback.TrainingCallback):
    """Shows how far a training is: rounds, rounds per second, the last metric, and memory of the device.

    With tqdm installed it is a bar of tqdm, else a line that is written over, or, where the output is no terminal, a
    line every ten seconds.

        xgb.train(params, data, 500, evals=[(valid, "valid")], verbose_eval=False,
                  callbacks=[xgboost_gpu.callback.ProgressBar()])
        xgb.XGBClassifier(n_estimators=500, callbacks=[xgboost_gpu.callback.ProgressBar()])

    Parameters
    ----------
    rounds
        The number of rounds; default: that of ``xgboost.train``, ``xgboost.cv`` or the estimator. Give it in a loop of
        your own, where it is unknown otherwise.
    file
        The file to write to; default: ``sys.stderr``.
    seconds
        Seconds between two updates; default: 0.1 on a terminal, 10 elsewhere.
    """

    def __init__(
        self, rounds: Optional[int] = None, file: Optional[TextIO] = None, seconds: Optional[float] = None
    ) -> None:
        super().__init__()
        if rounds is not None and not (isinstance(rounds, numbers.Integral) and rounds >= 1):
            raise ValueError(f"rounds is {rounds!r}; allowed: a whole number from 1 on, or None")
        if seconds is not None and not seconds >= 0:
            raise ValueError(f"seconds is {seconds}; allowed: 0 or more, or None")
        self._rounds = rounds
        self._of = rounds  # in the training under way
        # By name: a callback is copied and sent to other processes with its estimator.
        self._file = "stdout" if file is sys.stdout else None if file is sys.stderr else file
        self._seconds = seconds
        self._bar: Any = None
        self._done = self._begun_rounds = 0
        self._width = 0
        self._begun = self._shown = 0.0
        self._shown_round = -1
        self._log: Dict[str, Any] = {}

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_bar": None}

    def __deepcopy__(self, memo: Dict[int, Any]) -> "ProgressBar":
        """A copy writes to the same file and has no bar yet."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__getstate__())
        return other

    def before_training(self, model: Any) -> Any:
        """Begins to count and to look at the clock."""
        if self._bar is not None:  # the training before was interrupted
            self._bar.close()
        self._done = self._width = 0
        self._begun_rounds = 0
        self._shown_round = -1
        self._log = {}
        self._of = self._rounds or _rounds_of_caller()
        self._begun = self._shown = time.monotonic()
        self._bar = _tqdm(self._of, self._output())
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Dict[str, Any]) -> bool:
        """Counts the round. Never stops the training."""
        self._begun_rounds += 1
        return False

    def after_iteration(self, model: Any, epoch: int, evals_log: Dict[str, Any]) -> bool:
        """Shows the round that has ended, unless another was shown a moment ago. Never stops the training."""
        self._done += 1
        self._log = evals_log
        now = time.monotonic()
        if now - self._shown >= self._interval():
            self._shown = now
            self._show()
        return False

    def after_training(self, model: Any) -> Any:
        """Shows the last round and ends the line."""
        self._done = self._begun_rounds  # no callback runs after a round that stops the training
        if self._shown_round != self._done:
            self._show()
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        elif self._output().isatty():
            self._output().write("\n")
        return model

    def _output(self) -> TextIO:
        if self._file is None:
            return sys.stderr
        return sys.stdout if self._file == "stdout" else self._file

    def _interval(self) -> float:
        if self._seconds is not None:
            return self._seconds
        return 0.1 if self._output().isatty() else 10.0

    def _show(self) -> None:
        self._shown_round = self._done
        facts = ", ".join(filter(None, (_last_metric(self._log), _memory(memory_report()))))
        if self._bar is not None:
            self._bar.update(self._done - self._bar.n)
            self._bar.set_postfix_str(facts)
            return
        output = self._output()
        seconds = time.monotonic() - self._begun
        rate = self._done / seconds if seconds > 0 else 0.0
        of = "" if self._of is None else f"/{self._of}"
        line = ", ".join(filter(None, (f"{self._done}{of} rounds", f"{rate:.1f} rounds/s", facts)))
        if output.isatty():
            output.write("\r" + line.ljust(self._width))
        else:
            output.write(line + "\n")
        self._width = len(line)
        output.flush()


def _rounds_of_caller() -> Optional[int]:
    """What `xgboost.train` or `xgboost.cv` was called with; XGBoost does not hand it to callbacks. None in other loops."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "xgboost.training" and "num_boost_round" in frame.f_locals:
            return int(frame.f_locals["num_boost_round"])
        frame = frame.f_back
    return None


def _tqdm(rounds: Optional[int], output: TextIO) -> Any:
    """A bar of tqdm, or None where that is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=rounds, file=output, unit=" rounds")


def _last_metric(log: Dict[str, Any]) -> str:
    """The last metric of the last data set, as early stopping uses it; with `xgboost.cv` its mean over the folds."""
    if not log:
        return ""
    data, metrics = list(log.items())[-1]
    metric, values = list(metrics.items())[-1]
    value = values[-1][0] if isinstance(values[-1], tuple) else values[-1]
    return f"{data}-{metric} {value:.5g}"


def _memory(trainings: List[TrainingMemory]) -> str:
    """Where the training that began last runs, and how much memory it holds."""
    if not trainings:
        return ""
    newest = trainings[-1]
    where = "host" if newest["device"] is None else f"GPU {newest['device']}"
    return f"{where} memory {(newest['dataset_bytes'] + newest['training_bytes']) / 2**20:,.0f} MiB"
