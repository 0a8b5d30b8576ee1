#!/usr/bin/env python3
"""Runs a command and prints what it took, after what it prints itself: test/bench/usage.py PID COMMAND...

Seconds, processor time, and MB of private memory at the most, of the children of process PID (of a server); of the command where PID
is 0. Memory is without mapped files and shared buffers, and is looked at 20 times a second.
"""
import os
import subprocess
import sys
import time

TICKS = os.sysconf("SC_CLK_TCK")


def read(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # it has ended


def children(pid):
    return read(f"/proc/{pid}/task/{pid}/children").split()


def times(pid):
    """Of the process, user and system, and of its children that have ended."""
    return [int(ticks) / TICKS for ticks in read(f"/proc/{pid}/stat").rpartition(")")[2].split()[11:15]]


def processor_time(pid):
    return sum(times(pid)[2:]) + sum(sum(times(child)) for child in children(pid))


def memory(pid):
    return sum(int(line.split()[1]) for child in children(pid) for line in read(f"/proc/{child}/status").splitlines()
               if line.startswith("RssAnon:")) * 1024 / 1e6


def main():
    pid = int(sys.argv[1]) or os.getpid()
    used, most, begun = processor_time(pid), 0, time.monotonic()
    with subprocess.Popen(sys.argv[2:]) as command:
        while command.poll() is None:
            most = max(most, memory(pid))
            time.sleep(0.05)
    seconds = time.monotonic() - begun
    if command.returncode:
        sys.exit(command.returncode)
    time.sleep(0.5)  # a server waits for its processes
    print(f"{seconds:.1f} {processor_time(pid) - used:.1f} {most:.0f}")


main()
