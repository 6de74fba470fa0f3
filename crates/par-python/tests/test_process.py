"""The process around it: the interpreter's lock, Ctrl-C, forks, threads."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import QUICK

LONG = """
    from par_recourse import Recourse, datasets
    german = datasets.german_credit()
"""


def run(code, **options):
    return subprocess.Popen(
        [sys.executable, "-u", "-c", textwrap.dedent(LONG) + textwrap.dedent(code)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise")
@pytest.mark.parametrize("stage", ["classifier", "circuits", "generator"])
def test_ctrl_c_stops_a_long_fit(stage):
    # The first report of this stage comes once a circuit is learned: with 200 copies after a minute.
    copies = 40 if stage == "circuits" else 200
    asked = time.monotonic()
    process = run(f"""
        import pyarrow as pa
        X, y = pa.concat_tables([german.X] * {copies}), pa.concat_arrays([pa.array(german.y.to_pylist())] * {copies})
        config = {{"generator": {{"steps": 1000000}}, "classifier": {{"epochs": 1000}}}}
        if "{stage}" == "generator":
            X, y, config = german.X, german.y, {{"generator": {{"steps": 1000000}}}}
        elif "{stage}" == "circuits":
            config["classifier"]["epochs"] = 1
        def told(stage, done, of):
            if stage == "{stage}":
                print("begun", flush=True)
        try:
            Recourse(german.schema, config=config, progress=told).fit(X, y)
        except KeyboardInterrupt:
            print("stopped")
    """)
    assert process.stdout.readline() == "begun\n", process.communicate()
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.endswith("stopped\n"), err
    assert time.monotonic() - started < min(5, started - asked)


LONG_ANSWERS = ["evaluate(X)", "explain(X.slice(1, 1), count=50, budget=12)", "recourse(X, method='exact')"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise")
@pytest.mark.parametrize("call", LONG_ANSWERS)
def test_ctrl_c_stops_long_answers(call, unconstrained):
    process = run(f"""
        import pyarrow as pa
        recourse = Recourse({unconstrained!r}, config={{**{QUICK}, "answers": {{"nodes": 100000000}}}})
        recourse.fit(german.X, german.y)
        X = pa.concat_tables([german.X] * 100)
        print("begun", flush=True)
        try:
            recourse.{call}
        except KeyboardInterrupt:
            print("stopped")
    """)
    assert process.stdout.readline() == "begun\n", process.communicate()
    time.sleep(0.5)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.endswith("stopped\n"), err
    assert time.monotonic() - started < 5


def test_other_threads_go_on_while_it_works(german):
    from par_recourse import Recourse

    ticks = []

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    done = threading.Event()
    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        Recourse(german.schema, config={"generator": {"steps": 300}}).fit(german.X, german.y)
    finally:
        done.set()
        ticker.join()
    assert len(ticks) > 20 and max(later - earlier for earlier, later in zip(ticks, ticks[1:])) < 1


def test_threads_may_ask_at_the_same_time(fitted, german):
    expected = fitted.recourse(german.X)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(fitted.recourse(german.X))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4 and all(answer.equals(expected) for answer in answers)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_answers_too(fitted, german):
    expected = fitted.recourse(german.X)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put(fitted.recourse(german.X).equals(expected)))
    child.start()
    assert queue.get(timeout=60)
    child.join()


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_any_number_of_threads_gives_the_same_bytes(fitted, threads):
    process = run(
        f"""
        recourse = Recourse(german.schema, config={QUICK}).fit(german.X, german.y)
        print(recourse.model_.sha256)
        """,
        env={**os.environ, "RAYON_NUM_THREADS": threads},
    )
    out, err = process.communicate(timeout=120)
    assert out.strip() == fitted.model_.sha256, err
