"""Adds up a ctest report: a Python suite and a GoogleTest program count as their tests, everything else as one. Prints
why tests were skipped.

    summary.py report.xml        written by: ctest --output-junit report.xml
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from typing import Dict, Tuple

# The last line of pytest ("2 failed, 140 passed, 3 skipped in 5.76s"); errors outside of tests count as failures.
PYTEST_TOTAL = re.compile(r"^(?:=+ )?((?:\d+ \w+(?:, )?)+) in [\d.]+s", re.MULTILINE)
OUTCOMES = {"passed": "passed", "xfailed": "passed", "failed": "failed", "xpassed": "failed", "error": "failed",
            "errors": "failed", "skipped": "skipped"}
# The last lines of GoogleTest: "[  PASSED  ] 5 tests.", "[  SKIPPED ] 2 tests, listed below:", "[  FAILED  ] 1 test, …".
GTEST_TOTAL = re.compile(r"^\[ +(PASSED|SKIPPED|FAILED) +\] (\d+) tests?(?:\.|, listed)", re.MULTILINE)
# Why tests were skipped, by pytest and by GoogleTest.
PYTEST_REASON = re.compile(r"^SKIPPED \[(\d+)\] (?:\S+\.py(?::\d+)?: )?(.*)$", re.MULTILINE)
GTEST_REASON = re.compile(r"^\S+:\d+: Skipped\n(.+)$", re.MULTILINE)


def outcomes(case: ElementTree.Element) -> Dict[str, int]:
    """How many tests of one ctest entry passed, failed, were skipped."""
    status, skipped = case.get("status"), case.find("skipped")
    if status == "disabled" or (skipped is not None and skipped.get("message", "").startswith("SKIP_")):
        return {"skipped": 1}
    failed = status != "run"  # also a program that is not there ("notrun")
    counts = Counter()
    output = case.findtext("system-out") or ""
    totals = PYTEST_TOTAL.findall(output)
    for number, word in re.findall(r"(\d+) (\w+)", totals[-1] if totals else ""):
        if word in OUTCOMES:
            counts[OUTCOMES[word]] += int(number)
    for word, number in GTEST_TOTAL.findall(output):
        counts[word.lower()] += int(number)
    if not counts:
        return {"failed" if failed else "passed": 1}
    if failed and not counts["failed"]:
        counts["failed"] = 1  # the suite itself went wrong, after its tests or beside them
    return counts


def main(path: str) -> Tuple[Counter, Counter]:
    """Number of tests by outcome, and of skipped ones by reason."""
    total, reasons = Counter(), Counter()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        total.update(outcomes(case))
        output = case.findtext("system-out") or ""
        for number, reason in PYTEST_REASON.findall(output):
            reasons[reason] += int(number)
        reasons.update(GTEST_REASON.findall(output))
    return total, reasons


if __name__ == "__main__":
    total_, reasons_ = main(sys.argv[1])
    for reason_, number_ in sorted(reasons_.items()):
        print(f"skipped {number_}: {reason_}")
    print(f"\n{total_['passed']} passed, {total_['failed']} failed, {total_['skipped']} skipped")
