#!/usr/bin/python3
"""The tables of trainings in docs/benchmarks.md in one run: this library and what else is importable, taking turns.

    XGBGPU_LIBRARY=build/cuda-dev/lib/libxgboost_gpu.so scripts/peers/table.py --python xgboost=~/peers/bin/python

Every training is a process of its own, because the libraries' XGBoosts exclude each other: --python LIBRARY=INTERPRETER and
--path LIBRARY=FOLDER (put in front of PYTHONPATH) say where a library is; else it is looked for where this script runs.
Libraries: ours, xgboost (2 or later), falcata, lightgbm, catboost. What cannot be imported has a dash, and a line says why.
Data: made on the first run in --data (6 GB for airline, 4 for bosch, 3 for epsilon), or taken from there: SET/{X,y,Xt,yt}.npy,
sparse and ranking sets as data.py says, which describes them all. Needs no network.

"From the array" is the time from arrays in the host's memory to the trained model. "All" is the part of it that trains, without
evaluation: ours finds cuts and bins in it, the others before it, while they make their data sets. "A round" is the slope
between a quarter of the rounds and all. Medians of --runs. Progress goes to stderr, the tables to stdout.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import data

HERE = Path(__file__).resolve().parent
LIBRARIES = ("ours", "xgboost", "falcata", "lightgbm", "catboost")
Measured = Dict[Tuple[str, str], List[Dict[str, Any]]]  # by row and library, of each run


class Row(NamedTuple):
    """A line of the table."""

    set: str
    rounds: int
    depth: int
    max_bin: int = 256


ROWS = {
    "higgs-d8": Row("higgs", 500, 8),
    "higgs-d6": Row("higgs", 500, 6),
    "airline": Row("airline", 200, 8),
    "m1": Row("m1", 500, 6),
    "mid": Row("mid", 500, 6),
    "small": Row("small", 500, 6),
    "cover": Row("cover", 200, 8),
    **{name: Row(name, 100, 8) for name in ("epsilon", "bosch", "text", "onehot", "levels")},
    "mslr": Row("mslr", 200, 8),
    "m1-b4096": Row("m1", 100, 8, 4096),
}


def pairs(values: List[str], option: str) -> Dict[str, str]:
    """LIBRARY=SOMETHING, by library."""
    found = {}
    for value in values:
        library, equals, where = value.partition("=")
        if library not in LIBRARIES or not equals:
            sys.exit(f"{option} is {value}; allowed: LIBRARY=…, with one of {', '.join(LIBRARIES)}")
        found[library] = os.path.expanduser(where)
    return found


def measure(args: argparse.Namespace, library: str, row: Row) -> Dict[str, Any]:
    """One training in a process of its own."""
    folder = data.ensure(args.data, row.set, args.scale)
    environment = dict(os.environ)
    paths = [args.path[library]] if library in args.path else []
    if library == "ours":
        paths.append(str(HERE.parents[1] / "python"))
    environment["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [environment.get("PYTHONPATH")])])
    rounds = min(row.rounds, args.rounds or row.rounds)
    command = [args.python.get(library, sys.executable), str(HERE / "worker.py"), library, str(folder)]
    command += [str(v) for v in (data.CLASSES.get(row.set, 0), data.CATEGORIES.get(row.set, 0), rounds, row.depth, row.max_bin)]
    command += [str(args.threads), args.backend]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]}
    return json.loads(lines[-1])


def median(runs: List[Dict[str, Any]], key: str) -> Optional[float]:
    values = [run[key] for run in runs if run.get(key) is not None]
    return statistics.median(values) if values else None


def text(value: Optional[float], form: str) -> str:
    return "–" if value is None else format(value, form)


def line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def tables(measured: Measured, rows: List[str], libraries: List[str], args: argparse.Namespace) -> str:
    """Times, then accuracy and memory, as Markdown."""
    others = [library for library in libraries if library != "ours"]
    head = ["data", "rounds, depth", "ours: first round, s"]
    head += [f"{library}: {what}" for library in libraries for what in ("from the array, s", "all, s", "a round, ms")]
    head += ["from the array, ours / " + ", ".join(others), "all, ours / " + ", ".join(others)] if others else []
    times = [line(*head), line(*["---"] * len(head))]
    head = ["data"] + [f"{lib}: {what}" for lib in libraries for what in ("accuracy", "device GiB", "host GiB")]
    facts = [line(*head), line(*["---"] * len(head))]
    for name in rows:
        row = ROWS[name]
        found = {library: measured[name, library] for library in libraries}
        cells = [name, f"{min(row.rounds, args.rounds or row.rounds)}, {row.depth}"]
        cells.append(text(median(found.get("ours", []), "first_s"), ".3f"))
        for library in libraries:
            cells += [text(median(found[library], key), ".3f") for key in ("from_array_s", "all_s", "round_ms")]
        for key in ("from_array_s", "all_s") if others else ():
            own = median(found.get("ours", []), key)
            theirs = [median(found[library], key) for library in others]
            cells.append(", ".join("–" if own is None or other is None else f"{own / other:.2f}" for other in theirs))
        times.append(line(*cells))
        cells = [name]
        for library in libraries:
            runs = found[library]
            cells += [text(median(runs, "accuracy"), ".4f")]
            cells += [text(median(runs, "device_gib"), ".2f"), text(median(runs, "host_gib"), ".2f")]
        facts.append(line(*cells))
    note = "Accuracy: AUC of the test rows; cover: share of wrong classes; mslr: mean NDCG@10."
    note += " Memory: peaks, the data in the host's."
    return "\n".join([*times, "", *facts, "", note])


def main() -> None:
    """Runs everything, a library after the other, as often as asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS), metavar="ROW", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--libraries", nargs="+", default=list(LIBRARIES), choices=LIBRARIES, metavar="LIBRARY")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rounds", type=int, help="at most so many")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "build" / "peers-data")
    parser.add_argument("--scale", type=float, default=1.0, help="part of the rows, to try it out")
    parser.add_argument("--backend", default="cuda", choices=("cuda", "host"), help="host: everybody on the CPU")
    parser.add_argument("--python", action="append", default=[], metavar="LIBRARY=INTERPRETER")
    parser.add_argument("--path", action="append", default=[], metavar="LIBRARY=FOLDER")
    args = parser.parse_args()
    args.python, args.path = pairs(args.python, "--python"), pairs(args.path, "--path")
    measured: Measured = {(row, library): [] for row in args.rows for library in args.libraries}
    missing: Dict[str, str] = {}
    failed: Dict[Tuple[str, str], str] = {}
    for row in args.rows:
        for run in range(args.runs):
            for library in args.libraries:
                if library in missing or (row, library) in failed:
                    continue
                found = measure(args, library, ROWS[row])
                print(f"{row} {library} {run + 1}/{args.runs}: {json.dumps(found)}", file=sys.stderr, flush=True)
                if "missing" in found:
                    missing[library] = found["missing"]
                elif "failed" in found:
                    failed[row, library] = found["failed"]
                else:
                    measured[row, library].append(found)
    print(tables(measured, args.rows, [library for library in args.libraries if library not in missing], args))
    for library, why in missing.items():
        print(f"\n{library} is missing: {why}")
    for (row, library), why in failed.items():
        print(f"\n{library} failed on {row}: {why}")


if __name__ == "__main__":
    main()
