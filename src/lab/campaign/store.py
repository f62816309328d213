# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Keeps the results of a study in a directory.

    study.json          name, digest and version; written once
    fabrics/NAME.net    generated fabrics
    parts/NNNNNN.jsonl  the results of task NNNNNN: a header line, then one line for each set
    log/NNNNNN.log      output of a task that failed
    results.jsonl, cases.csv, survival.csv, survival.svg, report.json: results of the merge

A file is written under another name, synchronised and renamed.  So a file with its final name is
complete, whenever a process is killed or a disk is full, and several processes on several nodes
can share the directory.  The header of a part has the digest of the study, the version of
ibfattree, and the SHA-256 of the lines after it.
"""
import hashlib
import json
import os


class StoreError(Exception):
    """The directory cannot be used; the message names the file."""


class Store:
    def __init__(self, path, study, version):
        self.path = path
        self.study = study
        self.version = version
        try:
            for name in ('fabrics', 'parts', 'log'):
                os.makedirs(os.path.join(path, name), exist_ok=True)
        except OSError as e:
            raise StoreError(f'{e.filename}: {e.strerror}') from e
        mine = {'name': study.name, 'digest': study.digest, 'version': version}
        if not os.path.exists(self.file('study.json')):
            self.write('study.json', json.dumps(mine, indent=2) + '\n')
        try:
            with open(self.file('study.json'), encoding='utf-8') as file:
                other = dict(json.load(file))
        except (OSError, ValueError, TypeError) as e:
            raise StoreError(f'{self.file("study.json")}: {e}') from e
        for line, key, what in ((3, 'digest', 'another study'),
                                (4, 'version', 'another version of ibfattree')):
            if other.get(key) != mine[key]:
                raise StoreError(f'{self.file("study.json")}:{line}: the directory has results of {what}: '
                                 f'{key} {other.get(key)}, expected {mine[key]}; nothing was written; '
                                 'use --dir for another directory')

    def file(self, *names):
        return os.path.join(self.path, *names)

    def part(self, task):
        return self.file('parts', f'{task.number:06}.jsonl')

    def log(self, task):
        return self.file('log', f'{task.number:06}.log')

    def failed(self, tasks):
        """Returns those of the tasks that have a log."""
        return [task for task in tasks if os.path.exists(self.log(task))]

    def write(self, name, text):
        """Write a file atomically."""
        path = self.file(name)
        temporary = f'{path}.{os.uname().nodename}.{os.getpid()}.tmp'
        try:
            with open(temporary, 'w', encoding='utf-8') as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, path)
        except OSError as e:
            try:
                os.unlink(temporary)
            except OSError:
                pass
            raise StoreError(f'{path}: {e.strerror}') from e

    def save(self, task, records):
        lines = ''.join(json.dumps(r, sort_keys=True) + '\n' for r in records)
        header = {'digest': self.study.digest, 'version': self.version, 'task': task.number,
                  'sha256': hashlib.sha256(lines.encode()).hexdigest()}
        self.write(os.path.join('parts', f'{task.number:06}.jsonl'),
                   json.dumps(header, sort_keys=True) + '\n' + lines)

    def load(self, task):
        """Returns the records of a task, or None if it must be computed (again).  Raises
        StoreError if the part belongs to another study or version."""
        try:
            with open(self.part(task), encoding='utf-8') as file:
                first, lines = file.readline(), file.read()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as e:
            raise StoreError(f'{self.part(task)}: {e}') from e
        try:
            header = json.loads(first)
            whole = header['sha256'] == hashlib.sha256(lines.encode()).hexdigest()
            for key in ('digest', 'version'):
                mine = getattr(self.study if key == 'digest' else self, key)
                if header[key] != mine:
                    raise StoreError(f'{self.part(task)}:1: {key} {header[key]}, expected {mine}; '
                                     'nothing was overwritten')
            if not whole or header['task'] != task.number:
                return None
            return [json.loads(line) for line in lines.splitlines()]
        except (ValueError, KeyError, TypeError):
            return None     # damaged: compute it again
