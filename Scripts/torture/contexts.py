"""The property test of contexts, for longer than the suite runs it: random work against a plain graph in memory."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
STEPS, SEEDS = 10_000, 8


def random_work(torture):
    torture.begin("random work in contexts", f"{STEPS:,} steps a seed: contexts and file say what a plain graph says")
    if not torture.is_long:
        torture.skip("only in --long (hours); the suite tries 100 steps of 16 seeds")
        return torture.end()
    # The suite has the first seeds.
    first = 1000 * torture.seed
    for seed in range(first, first + SEEDS):
        done = subprocess.run(
            ["swift", "test", "--filter", "ContextPropertyTests/random"],
            cwd=ROOT, capture_output=True, text=True, check=False,
            env={**os.environ, "DRAGOMAN_STEPS": str(STEPS), "DRAGOMAN_SEED": str(seed), "DRAGOMAN_SECONDS": "3600"},
        )
        said = done.stdout + done.stderr
        ran = re.search(r"Test run with [1-9]\d* tests?\b.* passed", said) is not None
        told = re.search(r"DRAGOMAN_SEED=.*", said, re.DOTALL)
        torture.check(done.returncode == 0 and ran, f"seed {seed}", told.group() if told else said[-1500:])
    torture.end()


TESTS = [random_work]
