"""Loads models and uses each in every way, in a process of its own. test_malformed_models.py runs this.

Reads a pickled list of (bytes, how, suffix) and writes a JSON list of outcomes: the text of an error, `no error`,
`hangs`, or `died of …`. It computes nothing before it forks.
"""

import json
import os
import pickle
import select
import signal
import sys
from typing import Tuple

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import xgboost as xgb

if os.environ.get("XGBGPU_TEST_METHOD", "gpu_hist") == "gpu_hist":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "python"))
    import xgboost_gpu  # noqa: F401  (loads the library)

SECONDS = int(os.environ.get("XGBGPU_TEST_SECONDS", "60"))  # a process that takes longer hangs
X = np.random.default_rng(7).normal(size=(50, 4)).astype(np.float32)


def use(booster: xgb.Booster) -> None:
    """Calls everything that reads a model."""
    data = xgb.DMatrix(X)
    for options in ({}, {"pred_leaf": True}, {"pred_contribs": True}):
        try:
            booster.predict(data, validate_features=False, **options)
        except xgb.core.XGBoostError as error:
            if "gblinear does not support" in str(error):  # leaves of a gblinear
                continue
            raise
    if "gblinear" not in booster.save_config():  # gblinear has no in-place prediction
        booster.inplace_predict(X)
    booster.get_dump(with_stats=True)


def load_and_use(raw: bytes, how: str, suffix: str) -> str:
    booster = xgb.Booster({"nthread": 1})
    try:
        if how == "file":
            name = f"/dev/shm/malformed-{os.getpid()}.{suffix}"
            with open(name, "wb") as file:
                file.write(raw)
            try:
                booster.load_model(name)
            finally:
                os.unlink(name)
        elif how == "pickle":
            booster.__setstate__({"handle": bytearray(raw)})
        elif how == "config":
            booster.load_config(raw.decode())
        else:
            booster.load_model(bytearray(raw))
        use(booster)
        return "no error"
    except (xgb.core.XGBoostError, ValueError) as error:
        return str(error).split("Stack trace")[0]


def outcome(case: Tuple[bytes, str, str]) -> str:
    begin, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(end, load_and_use(*case).encode()[:4000])
        os._exit(0)
    os.close(end)
    ready, _, _ = select.select([begin], [], [], SECONDS)
    text = os.read(begin, 4000).decode(errors="replace") if ready else "hangs"
    os.close(begin)
    if not text:
        return f"died of {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return text


if __name__ == "__main__":
    json.dump([outcome(case) for case in pickle.load(sys.stdin.buffer)], sys.stdout)
