"""Commands started, watched and ended."""
import json
import os
import subprocess

from .systems import OURS
from .usage import Peak, Watch

RUN_LIMIT_S = 900
# What both harnesses end with when their own time is over.
OUT_OF_TIME = 3
# What the peer harness says if filling did not end. Nothing else before the window makes it wait that long.
NOT_FILLED = "no answer in 120 s"


class Failed(Exception):
    pass


class NeverBegan(Failed):
    """It failed before all members had formed, as when they do not find each other in time."""


def run(command, environment=None, look=None):
    """(exit code, output, errors) of a command. Whatever happens to this script, the command is told to end, and it ends what it started. `look` is called again and again with its number."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
    watch = Watch(process.pid, look or Peak())
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
    return process.returncode, out, err


def began(code, result):
    """
    Whether a run that failed had members that had formed. Macro says so itself. The peer harness does not: its runs count as begun when they have the share that it notes behind the window (a failover's before
    the fault), when its time was over, and when the filling did not end; of the rest nothing tells, and the others get another try.
    """
    if result.get("system") == OURS:
        return result.get("began") is True
    return code == OUT_OF_TIME or "cpu_others_share" in result or str(result.get("error")).endswith(NOT_FILLED)


def last_json(out):
    """The fields of the last line that has any, or None, also when its writer died within it."""
    lines = [line for line in out.splitlines() if line.startswith("{")]
    try:
        return json.loads(lines[-1]) if lines else None
    except json.JSONDecodeError:
        return None


def run_json(command, look=None):
    """The fields of a run, and the peak of what its processes held. A harness that ends without saying anything failed, whenever that was."""
    look = look or Peak()
    code, out, err = run(command, look=look)
    result = last_json(out)
    if result is None:
        raise Failed(f"exit code {code}, no result: {(err.strip().splitlines() or ['no output'])[-1][:300]}")
    if code != 0:
        raise (Failed if began(code, result) else NeverBegan)(f"exit code {code}: {result.get('error', '')[:300]}")
    if isinstance(look, Peak):
        result["rss_peak_mb"] = round(look.system / 1e6)
        if look.clients:
            result["rss_clients_mb"] = round(look.clients / 1e6)
    return result
