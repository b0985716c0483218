"""What the scripts of this folder share: their arguments, a failed check, and running a command."""
import argparse
import shlex
import subprocess


class Failure(Exception):
    """A promise that is not kept; the text says which."""


def arguments(doc, targets=None):
    """A parser of the options that all scripts have; `targets`: those that are checked unless others are named."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    if targets:
        parser.add_argument("--targets", default=targets)
    return parser


def sh(command, **options):
    """Runs a command that has to succeed; returns what it prints."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise Failure(f"{shlex.join(command)}\n{done.stdout}{done.stderr}"[:4000])
    return done.stdout
