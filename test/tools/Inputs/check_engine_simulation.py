#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the lines of simulate.py --json.

usage: check_engine_simulation.py FILE
"""

import json
import sys

rows = {}
for line in open(sys.argv[1], encoding="utf-8"):
    row = json.loads(line)
    rows[row["pattern"], row["workers"]] = row
assert len(rows) == 7 * 3, rows.keys()
for (pattern, workers), row in rows.items():
    assert row["ns"] > 0, row
    if "speedup" in row:
        # The pusher helps at the end.
        assert 0 < row["speedup"] <= row["without_costs"] * 1.05 <= (workers + 1) * 1.05, row
# 100 variables: 300 operations of one length are three rounds.
assert rows["50 us alone", 64]["without_costs"] > 45, rows["50 us alone", 64]
assert rows["50 us alone", 64]["speedup"] > 0.9 * rows["50 us alone", 64]["without_costs"]
# What costs nothing by itself is not faster with more workers than the lock allows.
for pattern in ["independent", "chain", "random 2r1w", "random 10r1w"]:
    assert rows[pattern, 64]["ns"] >= rows[pattern, 1]["ns"], pattern
# What waits for what bounds MXNet's workload, whatever the engine.
assert rows["MXNet's workload", 64]["without_costs"] < 5
