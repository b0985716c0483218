"""Shared by the scripts of this folder: arguments, failures, and running a command."""
import argparse
import shlex
import subprocess


class Failure(Exception):
    """A guarantee that does not hold; the text says which."""


def arguments(doc, targets=None):
    """Returns a parser with the options of all scripts; `targets` are the default targets."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    if targets:
        parser.add_argument("--targets", default=targets)
    return parser


def sh(command, **options):
    """Runs a command that must succeed; returns its output."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise Failure(f"{shlex.join(command)}\n{done.stdout}{done.stderr}"[:4000])
    return done.stdout
