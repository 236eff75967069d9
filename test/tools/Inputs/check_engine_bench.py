#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the lines of dlc-engine-bench --json.

usage: check_engine_bench.py FILE
"""

import json
import sys

PATTERNS = ["independent", "chain", "random 2r1w", "random 10r1w", "chain bulk 15", "random 2r1w bulk 15"]
ENGINES = ["PerDevice", "Threaded", "Naive"]

lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
series = {(line["pattern"], line["engine"]): line for line in lines if "total_ns" in line}
for pattern in PATTERNS + [f"2 pushers, {name}" for name in PATTERNS[:4]]:
    for engine in ENGINES:
        line = series[pattern, engine]
        assert 0 < line["submit_min_ns"] <= line["submit_ns"], line
        assert line["submit_ns"] <= line["total_ns"], line
        assert line["total_min_ns"] <= line["total_ns"] and line["passes"] == 3, line
static = [line for name, line in series.items() if name[0].startswith("static")]
assert sum(line["engine"] == "TaskGraph" and line["total_ns"] > 0 for line in static) == 8, static
assert len(series) == sum("total_ns" in line for line in lines), "a pattern and engine appear twice"
