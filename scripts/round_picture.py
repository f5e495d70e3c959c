#!/usr/bin/python3
"""Pictures of one round of a training, from gpu_trace: as it is, and with the host's vectors filled in every round.

    XGBGPU_LIBRARY=build/cuda-dev/lib/libxgboost_gpu.so scripts/round_picture.py [--rows=10500000] [--out=docs/images/round]

writes OUT-before.svg and OUT-after.svg and prints both tables, with the host's overhead. "Before" is a training whose
program calls XGBoost's functions directly, without the ones that stand in front of them: the library cannot know that
nobody looks at the margins, and copies them in each round (docs/adr/0008-rounds-on-the-device.md). It also times rounds
without a trace, in which the host's work overlaps with the device's.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))


def make_data(rows: int, columns: int, seed: int) -> Any:
    """A matrix of normal features and a label with an interaction."""
    import numpy as np
    import xgboost as xgb

    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns), dtype=np.float32)
    score = x[:, 0] + x[:, 1] * x[:, 2] + rng.standard_normal(rows, dtype=np.float32)
    return xgb.DMatrix(x, (score > 0).astype(np.float32))


def train(args: argparse.Namespace) -> None:
    """In a process of its own: 12 traced rounds, then as many others, whose median is printed."""
    if args.train == "after":
        import xgboost as xgb
        import xgboost_gpu  # noqa: F401
    else:
        import xgboost as xgb

        ctypes.CDLL(args.loaded, ctypes.RTLD_GLOBAL)
    data = make_data(args.rows, args.columns, 0)
    valid = [(make_data(args.rows // 20, args.columns, 1), "valid")] if args.evaluate else []
    params: Dict[str, Any] = {
        "tree_method": "gpu_hist",
        "gpu_backend": args.backend,
        "objective": "binary:logistic",
        "max_depth": args.depth,
    }
    xgb.train({**params, "gpu_trace": args.trace}, data, 12, evals=valid, verbose_eval=False)
    times: List[float] = []

    class Clock(xgb.callback.TrainingCallback):
        """When each round ends."""

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            times.append(time.perf_counter())
            return False

    xgb.train(params, data, 12, evals=valid, verbose_eval=False, callbacks=[Clock()])
    print(f"{sorted(b - a for a, b in zip(times[2:], times[3:]))[4] * 1e6:,.0f}")


def main() -> None:
    """Trains in two processes and draws what they have written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_500_000)
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--evaluate", action="store_true", help="with an evaluation set of a twentieth of the rows")
    parser.add_argument("--backend", default="cuda", choices=("auto", "cuda", "host"))
    parser.add_argument("--out", default="round", help="beginning of the pictures' names")
    parser.add_argument("--format", default="svg", help="svg, or what matplotlib writes")
    parser.add_argument("--train", choices=("before", "after"), help=argparse.SUPPRESS)
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    parser.add_argument("--library", dest="loaded", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.train:
        train(args)
        return
    import xgboost_gpu

    library = xgboost_gpu.build_info()["library"]
    for which in ("before", "after"):
        with tempfile.TemporaryDirectory() as folder:
            trace = str(Path(folder) / "trace.json")
            command = [sys.executable, *sys.argv, f"--train={which}", f"--trace={trace}", f"--library={library}"]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=dict(os.environ))
            profile = xgboost_gpu.profile(trace)
        title = f"{which.capitalize()}: {args.rows:,} rows x {args.columns}, depth {args.depth}"
        profile.save_round(f"{args.out}-{which}.{args.format}", title=title)
        print(f"{title}\n{profile}\nround without a trace: {done.stdout.strip()} us (median)\n", flush=True)


if __name__ == "__main__":
    main()
