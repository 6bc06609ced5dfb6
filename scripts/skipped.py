"""Prints the skipped tests of a JUnit file; fails on any where the operator's data is there."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree


def main(report: str, data: str) -> int:
    cases = ElementTree.parse(report).getroot().iter("testcase")
    skipped = [(c.get("name"), s.get("message")) for c in cases for s in c.iter("skipped")]
    for name, message in skipped:
        print(f"skipped: {name}: {message}")
    allowed = 0 if Path(data).is_dir() else 200
    print(f"{len(skipped)} skipped, at most {allowed} allowed")
    return 1 if len(skipped) > allowed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
