# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Reads a study file and divides it into tasks.

A study is the product fabrics x engines x faults x commands; each element of the product is a
case.  A case has one fault set for each seed.  A task is a case with at most `batch` consecutive
seeds, so that one run of ibfattree computes several sets.  Without random faults there is one
set, except for the commands SEEDED, whose traffic depends on the seed.  The numbers of cases and
tasks depend only on the study file, not on how the work is divided.
"""
import hashlib
import json
import os
import re
try:
    import tomllib
except ImportError:                     # before Python 3.11
    import tomli as tomllib
from dataclasses import dataclass
from typing import Callable, Optional

SEEDED = ('sim', 'collective')      # depend on the seed also without faults
# options that the study sets, and those with which the command prints something else
TAKEN = {'whatif': ('fail', 'repeat', 'metrics', 'details', 'survival', 'guarantee'), 'load': ('lfts',),
         'sim': ('lfts', 'runs'), 'collective': ('tables', 'fail')}
BATCH_MAX = 10000       # --repeat of whatif
TASKS_MAX = 1000000
SEED_MAX = 10**18
SIZE_MAX = 16 << 20
RANDOM = re.compile(r'[0-9]+(\.[0-9]*)?%?(links?|switch|switches)')
# not a switch, but a mistyped number of links or switches; a switch whose name has this form is
# written in double quotes
MISTYPED = re.compile(r'(?![0-9a-fA-F]{16}$)[0-9][0-9.]*\s*%?\s*[A-Za-z]*|')


class StudyError(Exception):
    """The study file is wrong; the message names the file and the line."""


@dataclass(frozen=True)
class Case:
    number: int
    fabric: str
    engine: str
    faults: tuple
    command: str
    options: tuple

    @property
    def varies(self):
        """True if the result depends on the seed."""
        return self.command in SEEDED or any(map(RANDOM.fullmatch, self.faults))


@dataclass(frozen=True)
class Task:
    number: int
    case: Case
    first_seed: int
    n_seeds: int


@dataclass
class Study:
    path: str
    name: str
    fabrics: dict           # name -> {'gen': SHAPE} or {'file': path}, 'options', and
                            # 'engines', 'faults', 'seeds' if they are not those of the study
    cases: list
    tasks: list
    until: Optional[float]  # stop a case when the survival is known this well
    metrics: Optional[list]
    digest: str
    fail: Callable          # fail(word, message): raise StudyError for the first line with the word


class Reader:
    """Takes keys out of TOML tables, and reports errors with the line of the key."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, encoding='utf-8') as file:
                self.text = file.read(SIZE_MAX)
            if len(self.text) == SIZE_MAX:
                raise StudyError(f'{path}: a study file has less than {SIZE_MAX} characters')
            self.data = tomllib.loads(self.text)
            self.first = 1      # line from which fail() searches
        except OSError as e:
            raise StudyError(f'{path}: {e.strerror}') from e
        except UnicodeDecodeError as e:
            raise StudyError(f'{path}: not UTF-8 at byte {e.start}') from e
        except tomllib.TOMLDecodeError as e:
            line = re.search(r'line (\d+)', str(e))
            line = line[1] if line else self.text.count('\n') + 1
            raise StudyError(f'{path}:{line}: {e}') from e

    def fail(self, word, message):
        """word: a key or value that is on the line of the error."""
        lines = self.text.splitlines()
        found = [n for n, line in enumerate(lines, 1) if n >= self.first and
                 re.search(rf'(?<![\w-]){re.escape(str(word))}(?![\w-])', line.partition('#')[0])]
        raise StudyError(f'{self.path}:{found[0] if found else self.first}: {message}')

    def take(self, table, key, kinds, default=None):
        if key not in table:
            if default is None:
                raise StudyError(f'{self.path}:{self.first}: the key "{key}" is missing')
            return default
        value = table.pop(key)
        if not isinstance(value, kinds) or isinstance(value, bool):
            self.fail(key, f'"{key}" is {value!r}, which has the wrong type')
        return value

    def tables(self, key, default):
        """Yields the tables [[key]]."""
        lines = self.text.splitlines()
        heads = [n for n, line in enumerate(lines, 1)
                 if re.match(rf'\s*\[\[\s*{key}\s*\]\]', line)]
        for table in self.take(self.data, key, list, default):
            if not isinstance(table, dict):
                self.fail(key, f'"{key}" contains {table!r}, which is not a table')
            self.first = heads.pop(0) if heads else 1
            yield table
        self.first = 1

    def words(self, table, key, default):
        value = self.take(table, key, list, default)
        for word in value:
            if not isinstance(word, str):
                self.fail(key, f'"{key}" contains {word!r}, which is not a string')
        return value

    def end(self, table, where):
        for key in table:
            self.fail(key, f'unknown key "{key}" in {where}')


def read_faults(r, table):
    faults = []
    for value in r.take(table, 'faults', list, ['none']):
        specs = value if isinstance(value, list) else [value]
        if not specs:
            r.fail('faults', '"faults" contains an empty list')
        for spec in specs:
            if not isinstance(spec, str):
                r.fail('faults', f'"faults" contains {spec!r}, which is not a string')
            if value != 'none' and (
                    spec == 'none' or MISTYPED.fullmatch(spec) and not RANDOM.fullmatch(spec)):
                r.fail(spec, f'fault {spec!r}: see --fail in ibfattree-whatif(1)' + (
                    f"""; a switch with this name is written '"{spec}"'""" if spec[:1].isdigit()
                    else ''))
        faults.append(() if value == 'none' else tuple(specs))
    return faults


def read_fabrics(r):
    fabrics = {}
    for table in r.tables('fabric', []):
        name = r.take(table, 'name', str)
        if not re.fullmatch(r'[\w.+-]+', name):
            r.fail(name, f'fabric name "{name}": allowed are letters, digits and . _ + -')
        if name in fabrics:
            r.fail(name, f'two fabrics have the name "{name}"')
        fabric = {'options': r.words(table, 'options', [])}
        if 'engines' in table:
            fabric['engines'] = r.words(table, 'engines', [])
            if not fabric['engines']:
                r.fail('engines', f'fabric "{name}" has no engine')
        if 'faults' in table:
            fabric['faults'] = read_faults(r, table)
            if not fabric['faults']:
                r.fail('faults', f'fabric "{name}" has no faults; use ["none"] for no fault')
        if 'seeds' in table:
            fabric['seeds'] = r.take(table, 'seeds', int)
            if fabric['seeds'] < 1:
                r.fail('seeds', f'fabric "{name}": seeds = {fabric["seeds"]}, must be positive')
        if ('gen' in table) == ('file' in table):
            r.fail(name, f'fabric "{name}" needs one of the keys "gen" and "file"')
        if 'gen' in table:
            fabric['gen'] = r.take(table, 'gen', str)
        else:
            file = r.take(table, 'file', str)
            fabric['file'] = os.path.join(os.path.dirname(os.path.abspath(r.path)), file)
            if not os.path.isfile(fabric['file']):
                r.fail(file, f'fabric "{name}": no file {fabric["file"]}')
        r.end(table, f'fabric "{name}"')
        fabrics[name] = fabric
    return fabrics


def read_commands(r):
    commands = []
    for table in r.tables('command', [{'run': 'whatif'}]):
        run = r.take(table, 'run', str)
        if run not in TAKEN:
            r.fail(run, f'command "{run}" (allowed: {", ".join(TAKEN)})')
        options = tuple(r.words(table, 'options', []))
        commands.append((run, options))
        r.end(table, f'command "{run}"')
    return commands


def check_options(r, command, options):
    for word in options:
        name = word.partition('=')[0]
        if name in ('-h', '--help', '--live', '--engine', '--seed') or name[2:] in TAKEN[command]:
            r.fail(word, f'{word}: not an option of {command} in a study')


def read_share(r, data):
    until = r.take(data, 'until', str, '')
    if not until:
        return None
    if not re.fullmatch(r'[0-9]+(\.[0-9]+)?%', until) or not 0 < float(until[:-1]) < 50:
        r.fail('until', f'until = "{until}": a percentage between 0% and 50%, for example "1%"')
    return float(until[:-1]) / 100


def digest_of(fabrics, cases, tasks, until, metrics):
    content = {}
    for name, fabric in fabrics.items():
        content[name] = dict(fabric)
        if 'file' in fabric:
            with open(fabric['file'], 'rb') as file:
                content[name]['file'] = hashlib.sha256(file.read()).hexdigest()
    text = json.dumps([content, [vars(c) for c in cases],
                       [(t.case.number, t.first_seed, t.n_seeds) for t in tasks],
                       until, metrics], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read(path):
    """Returns the Study in a file.  Raises StudyError."""
    r = Reader(path)
    data = r.data
    name = r.take(data, 'name', str)
    if not name.isprintable():
        r.fail('name', f'name = {name!r}: a character cannot be printed')
    fabrics = read_fabrics(r)
    engines = r.words(data, 'engines', ['dmodc'])
    faults = read_faults(r, data)
    commands = read_commands(r)
    first = r.take(data, 'first_seed', int, 1)
    count = r.take(data, 'seeds', int, 1)
    batch = r.take(data, 'batch', int, 10)
    until = read_share(r, data)
    metrics = r.words(data, 'metrics', []) or None
    r.end(data, 'the study')
    if not 0 <= first <= SEED_MAX or count < 1 or not 1 <= batch <= BATCH_MAX:
        r.fail('first_seed' if not 0 <= first <= SEED_MAX else 'seeds' if count < 1 else 'batch',
               f'first_seed = {first}, seeds = {count}, batch = {batch}: the seed must be from 0 to '
               f'{SEED_MAX}, the others must be positive, and batch at most {BATCH_MAX}')
    if not (fabrics and engines and faults and commands):
        raise StudyError(f'{path}:1: the study has no case: fabrics {len(fabrics)}, engines '
                         f'{len(engines)}, faults {len(faults)}, commands {len(commands)}')
    cases, tasks = [], []
    for fabric in fabrics:
        for command, options in commands:
            check_options(r, command, (*options, *fabrics[fabric]['options']))
            for engine in fabrics[fabric].get('engines', engines):
                for spec in fabrics[fabric].get('faults', faults):
                    cases.append(Case(len(cases), fabric, engine, spec, command, options))
    for case in cases:
        n = fabrics[case.fabric].get('seeds', count) if case.varies else 1
        for seed in range(first, first + n, batch):
            if len(tasks) == TASKS_MAX:
                r.fail('seeds', f'the study has more than {TASKS_MAX} tasks; a larger batch makes '
                       'fewer')
            tasks.append(Task(len(tasks), case, seed, min(batch, first + n - seed)))
    return Study(path, name, fabrics, cases, tasks, until, metrics,
                 digest_of(fabrics, cases, tasks, until, metrics), r.fail)
