"""Commands started, watched and ended."""
import json
import os
import subprocess

from .usage import Watch

RUN_LIMIT_S = 600


class Failed(Exception):
    pass


def run(command, environment=None):
    """The output of a command and the peak of what its processes held, bytes. Whatever happens to this script, the command is told to end, and it ends what it started."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
    watch = Watch(process.pid)
    try:
        out, err = process.communicate(timeout=RUN_LIMIT_S)
    except BaseException as error:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise Failed(f"no end after {RUN_LIMIT_S} s") from error
        raise
    finally:
        watch.close()
    return process.returncode, out, err, watch.peak


def run_json(command):
    code, out, err, peak = run(command)
    lines = [line for line in out.splitlines() if line.startswith("{")]
    if code != 0 or not lines:
        error = json.loads(lines[-1]).get("error", "") if lines else (err.strip().splitlines() or ["no output"])[-1]
        raise Failed(f"exit code {code}: {error[:300]}")
    return {**json.loads(lines[-1]), "rss_peak_mb": round(peak / 1e6)}
