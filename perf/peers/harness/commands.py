"""Commands started, watched and ended."""
import json
import os
import subprocess

from .usage import Peak, Watch

RUN_LIMIT_S = 900


class Failed(Exception):
    pass


class NeverBegan(Failed):
    """It failed before there was anything to measure, as when members do not find each other in time."""


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


def run_json(command, look=None):
    """The fields of a run, and the peak of what its processes held."""
    look = look or Peak()
    code, out, err = run(command, look=look)
    lines = [line for line in out.splitlines() if line.startswith("{")]
    result = json.loads(lines[-1]) if lines else {"error": (err.strip().splitlines() or ["no output"])[-1]}
    if code != 0 or not lines:
        # Both harnesses tell this share when they have seen the window, or a failover's time before the fault.
        failure = Failed if "cpu_others_share" in result else NeverBegan
        raise failure(f"exit code {code}: {result.get('error', '')[:300]}")
    if isinstance(look, Peak):
        result["rss_peak_mb"] = round(look.system / 1e6)
        if look.clients:
            result["rss_clients_mb"] = round(look.clients / 1e6)
    return result
