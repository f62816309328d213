# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Computes tasks: runs ibfattree and takes the values of each fault set from its JSON output.

A task that fails is tried a second time.  Times and memory are left out of the results, because
they differ from run to run.
"""
import json
import os
import subprocess
import tempfile
import threading

import stats
from store import StoreError

TRIES = 2
VARYING = ('_ms', 'seconds', 'memory_bytes')


def measures(metrics):
    """The words of --metrics that whatif needs for these values; None: all values."""
    if not metrics:
        return 'stale,load,shifts'
    needed = {'stale': any(m.startswith('not_rerouted.') for m in metrics),
              'load': any('load_all_' in m or m == 'drain_lost_percent' for m in metrics),
              'shifts': any('load_shift_' in m for m in metrics)}
    return ','.join(word for word in needed if needed[word]) or 'none'


class TaskError(Exception):
    """ibfattree failed; the message is its output."""


def numbers(value, name=''):
    """Yields (name, number) for the numbers in nested JSON objects; lists are left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f'{name}.{key}' if name else key)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if not name.endswith(VARYING):
            yield name, value


class Worker:
    def __init__(self, study, store, program):
        self.study = study
        self.store = store
        self.program = program
        self.children = set()
        self.lock = threading.Lock()
        self.stopped = False
        self.fabric_lock = threading.Lock()

    def stop(self):
        with self.lock:
            self.stopped = True
            for child in self.children:
                child.terminate()

    def run(self, *arguments):
        command = [self.program, *arguments]
        with self.lock:
            if self.stopped:
                raise TaskError('stopped')
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     stdin=subprocess.DEVNULL, text=True, errors='replace')
            self.children.add(child)
        try:
            out, err = child.communicate()
        finally:
            child.terminate()       # if a signal ends this program
            child.wait()
            with self.lock:
                self.children.discard(child)
        if child.returncode not in (0, 1):
            how = f'signal {-child.returncode}' if child.returncode < 0 else \
                f'exit status {child.returncode}'
            raise TaskError(f'{" ".join(command)}\n{how}\n{err}')
        return out

    def json(self, *arguments):
        out = self.run(*arguments, '--json')
        try:
            return json.loads(out)
        except ValueError as e:
            raise TaskError(f'{self.program} {" ".join(arguments)}\nnot JSON: {e}') from e

    def fabric(self, name):
        """Returns the file and the options of a fabric; generates the file if necessary."""
        fabric = self.study.fabrics[name]
        if 'file' in fabric:
            return fabric['file'], fabric['options']
        path = os.path.join('fabrics', name + '.net')
        with self.fabric_lock:
            if not os.path.exists(self.store.file(path)):
                self.store.write(path, self.run('gen', fabric['gen']))
        return self.store.file(path), fabric['options']

    def whatif(self, case, seed, n, faults):
        path, options = self.fabric(case.fabric)
        # without faults, the values are those before a fault
        out = self.json('whatif', path, *options, '--engine', case.engine,
                        *(faults or ('--fail', '1links')), '--seed', str(seed),
                        '--repeat', str(n), '--threads', '1', '--metrics',
                        measures(self.study.metrics), *case.options)
        if not faults:
            before = next(c for c in out['columns'] if c['kind'] == 'before')
            return {seed: dict(numbers({**before['runs'][0], 'seed': None}))}
        sets = {}
        for column in out['columns']:
            prefix = '' if column['kind'] == 'after' else column['kind']
            if column['kind'] == 'before':
                continue
            for run in column['runs']:
                sets.setdefault(run.pop('seed'), {}).update(numbers(run, prefix))
        if sorted(sets) != list(range(seed, seed + n)):
            raise TaskError(f'whatif printed the seeds {sorted(sets)}, expected {seed} to '
                            f'{seed + n - 1}')
        return sets

    def load(self, case, seed, n, faults):
        path, options = self.fabric(case.fabric)
        sets = {}
        for s in range(seed, seed + n):
            with tempfile.NamedTemporaryFile(suffix='.lfts') as tables:
                self.run('route', path, *options, '--engine', case.engine, *faults,
                         '--seed', str(s), '--threads', '1', '-o', tables.name)
                out = self.json('load', path, *options, '--lfts', tables.name, '--seed', str(s),
                                '--threads', '1', *case.options)
            sets[s] = {f'{result["pattern"]}.{name}': value for result in out['results']
                       for name, value in numbers(result) if not name.startswith('worst')}
        return sets

    def sim(self, case, seed, n, faults):
        path, options = self.fabric(case.fabric)
        at_start = []
        for spec in case.faults:
            at_start += ['--fail', f'{spec}@0ns']
        if at_start:
            at_start += ['--reroute', '0ns']
        sets = {}
        for s in range(seed, seed + n):
            out = self.json('sim', path, *options, '--engine', case.engine, *at_start,
                            '--seed', str(s), *case.options)
            sets[s] = dict(numbers(out))
        return sets

    def collective(self, case, seed, n, faults):
        path, options = self.fabric(case.fabric)
        sets = {}
        for s in range(seed, seed + n):
            out = self.json('collective', path, *options, '--tables', case.engine, *faults,
                            '--seed', str(s), '--threads', '1', *case.options)
            # "seconds" is a result here, not a time of computation
            sets[s] = {f'{result["collective"]}.{name}': value for result in out['results']
                       for name, value in result.items() if isinstance(value, (int, float))}
        return sets

    def compute(self, task):
        case = task.case
        faults = [word for spec in case.faults for word in ('--fail', spec)]
        sets = getattr(self, case.command)(case, task.first_seed, task.n_seeds, faults)
        for values in sets.values():
            for name in [n for n in values if self.study.metrics and
                         n not in self.study.metrics and not stats.decides(n)]:
                del values[name]
        return [{'case': case.number, 'fabric': case.fabric, 'engine': case.engine,
                 'faults': list(case.faults), 'command': case.command, 'seed': seed,
                 'values': values} for seed, values in sorted(sets.items())]

    def do(self, task):
        """Compute and save a task.  Returns True, or False if it failed TRIES times."""
        for _ in range(TRIES):
            try:
                self.store.save(task, self.compute(task))
                return True
            except TaskError as e:
                if self.stopped:
                    return False
                try:
                    with open(self.store.log(task), 'a', encoding='utf-8') as log:
                        log.write(f'{e}\n')
                except OSError as failed:
                    raise StoreError(f'{self.store.log(task)}: {failed.strerror}') from failed
        return False
