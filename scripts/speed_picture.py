"""Draws the first measurements of docs/benchmarks.md: seconds from the array to the model, ours and of others.

    build/site-tools/bin/python scripts/speed_picture.py [--out=docs/images/how-fast.svg]

`scripts/site` installs matplotlib there.
"""

import argparse
import re
from pathlib import Path
from typing import Dict, List, Tuple

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = {"ours": "#2e7d32", "Falcata": "#9e9e9e", "bonsai": "#757575", "XGBoost": "#424242"}


def read_table(text: str) -> List[Tuple[str, Dict[str, float]]]:
    """Data sets, each with the mean seconds of a program; without data sets that no other program was measured on."""
    lines = text[text.index("## From the array to the model on a GPU") :].splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    places = {name: next(i for i, title in enumerate(table[0]) if title.startswith(name)) for name in COLUMNS}
    found = []
    for cells in table[2:]:
        if len(cells) != len(table[0]):  # the next table
            break
        seconds = {}
        for name, place in places.items():
            numbers = re.findall(r"\d*\.\d+", re.sub(r"\(.*?\)", "", cells[place]))
            if numbers:
                seconds[name] = sum(map(float, numbers)) / len(numbers)
        if len(seconds) > 1:
            found.append((cells[0], seconds))
    return found


def draw(rows: List[Tuple[str, Dict[str, float]]], out: Path) -> None:
    """Bars on a logarithmic scale, with the seconds of others divided by ours."""
    plt.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "xgboost-gpu", "font.family": "sans-serif", "font.size": 11}
    )
    figure, axes = plt.subplots(figsize=(8, 0.5 + 0.27 * sum(len(seconds) + 1 for _, seconds in rows)))
    place, ticks = 0.0, []
    for name, seconds in rows:
        ticks.append((place, name.replace(": ", "\n", 1)))
        for program, value in seconds.items():
            axes.barh(place, value, height=0.9, color=COLUMNS[program])
            times = "" if program == "ours" else f", {value / seconds['ours']:.1f} times as long"
            text = f"{value:.3g} s: {'this library' if program == 'ours' else program}{times}"
            axes.text(value * 1.07, place, text, va="center", fontsize=9)
            place += 1
        place += 1
    axes.set_xscale("log")
    axes.set_xlim(0.1, 300)
    axes.set_yticks([where for where, _ in ticks], [name for _, name in ticks], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel("seconds from the numpy array to the trained model")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})


def main() -> None:
    """Reads the table and writes the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs/images/how-fast.svg", help="default: %(default)s")
    args = parser.parse_args()
    draw(read_table((ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")), args.out)


if __name__ == "__main__":
    main()
