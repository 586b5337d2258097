"""The suite's random tests, for longer or with other seeds than the suite runs them."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
STEPS, SEEDS = 10_000, 8
ROUNDS = 10
RANDOM_TESTS = "Property|Differential|WhoWins|LoadedLinks|RecordsTogether|NamedRecord|PageFetch|DamagedStore|IdentityMap|ValueSum|Scalar|CSVReader|UnsavedLink"


def random_work(torture):
    torture.begin("random work in contexts", f"{STEPS:,} steps a seed: contexts and file say what a plain graph says")
    if not torture.is_long:
        torture.skip("only in --long (hours); the suite tries 100 steps of 16 seeds")
        return torture.end()
    # The suite has the first seeds.
    first = 1000 * torture.seed
    for seed in (first + number for number in torture.cases(SEEDS, SEEDS)):
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


def other_seeds(torture):
    torture.begin("random tests of the suite, other seeds", "what the suite holds with its own seeds, it holds with any")
    if not torture.is_long:
        torture.skip("only in --long (an hour); the suite has its own seeds")
        return torture.end()
    for number in torture.cases(ROUNDS, ROUNDS):
        done = subprocess.run(
            ["swift", "test", "--filter", RANDOM_TESTS], cwd=ROOT, capture_output=True, text=True, check=False,
            env={**os.environ, "DRAGOMAN_RANDOM": "1"},
        )
        said = done.stdout + done.stderr
        ran = re.search(r"Test run with [1-9]\d* tests?\b.* passed", said) is not None
        failures = "\n".join(line for line in said.splitlines() if line.startswith(("✘", "↳", "error:")))
        torture.check(done.returncode == 0 and ran, f"run {number + 1}", failures or said[-1500:])
    torture.end()


TESTS = [random_work, other_seeds]
