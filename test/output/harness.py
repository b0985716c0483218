"""What the scripts of this folder share: a failed check, and running a command."""
import shlex
import subprocess


class Failure(Exception):
    """A promise that is not kept; the text says which."""


def sh(command, **options):
    """Runs a command that has to succeed; returns what it prints."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise Failure(f"{shlex.join(command)}\n{done.stdout}{done.stderr}"[:4000])
    return done.stdout
