# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Submits a study to Slurm: an array job, each task of which computes one share of the study, and
a job that merges the results when the array job has ended.  Both need a directory that all nodes
share.  A share that was killed is continued by submitting the study again."""
import os
import shlex
import subprocess
import sys


class SlurmError(Exception):
    """sbatch refused the job; the message is its output."""


def script(store, name, command, lines):
    path = store.file(name)
    options = ''.join(f'#SBATCH {line}\n' for line in lines)
    store.write(name, f'#!/bin/sh\n{options}exec {command}\n')
    return path


def sbatch(*arguments):
    try:
        out = subprocess.run(['sbatch', '--parsable', *arguments], capture_output=True,
                             text=True, check=True).stdout
    except FileNotFoundError as e:
        raise SlurmError('sbatch is not installed; --shard I/N works with any scheduler') from e
    except subprocess.CalledProcessError as e:
        raise SlurmError('; '.join(e.stderr.strip().split('\n'))) from e
    return out.strip().split(';')[0]


def submit(store, shards, options, dry_run):
    """Write the two scripts and submit them.  Returns the lines to print."""
    program = shlex.join([sys.executable, os.path.abspath(sys.argv[0])])
    files = shlex.join([os.path.abspath(store.study.path), '--dir', os.path.abspath(store.path)])
    # sbatch replaces %a and the like in names of files
    log = '--output=' + os.path.abspath(store.file('log')).replace('%', '%%')
    array = script(store, 'array.sh',
                   f'{program} run {files} --shard "$SLURM_ARRAY_TASK_ID/{shards}"',
                   ['--job-name=' + shlex.quote(store.study.name[:40]), f'--array=0-{shards - 1}',
                    '--requeue', '--open-mode=append', shlex.quote(f'{log}/shard-%a.log'), *options])
    merge = script(store, 'merge.sh', f'{program} merge {files}',
                   [shlex.quote(f'{log}/merge.log'), '--open-mode=append', *options])
    if dry_run:
        return [f'sbatch {shlex.quote(array)}',
                f'sbatch --dependency=afterany:JOB {shlex.quote(merge)}']
    job = sbatch(array)
    after = sbatch(f'--dependency=afterany:{job}', merge)
    return [f'array job {job}, shards={shards}; merge: job {after}']
