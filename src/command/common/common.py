# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the programs ibfattree-report and ibfattree-slurm share: they run ibfattree, and write one
file."""
import gzip
import os
import shutil
import stat
import tempfile


class CommonError(Exception):
    """The message is one line."""


def find_command(user, directory):
    """user: the command that needs it.  Returns the path of ibfattree: $IBFATTREE, or in this directory, or in $PATH."""
    beside = os.path.join(directory, 'ibfattree')
    program = os.environ.get('IBFATTREE') or (
        beside if os.access(beside, os.X_OK) else shutil.which('ibfattree'))
    if not program:
        raise CommonError(f'{user}: the command ibfattree is not installed; the variable IBFATTREE '
                          'may name it')
    return program


def replace(path, data, old):
    """Writes a file under another name, and renames it.  old: status of the replaced file or None."""
    if old and stat.S_ISDIR(old.st_mode):
        raise CommonError(f'{path}: cannot replace: Is a directory')
    real = os.path.realpath(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=os.path.basename(real) + '.',
                                             dir=os.path.dirname(real))
    except OSError as error:
        raise CommonError(f'{path}: cannot create: {error.strerror}') from error
    try:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
        if old:
            mode = old.st_mode & 0o777
            try:
                os.fchown(handle, old.st_uid, old.st_gid)
            except OSError:
                mode &= 0o700 | 0o666 & ~mask
        with open(handle, 'wb') as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.rename(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise


def write(path, text):
    """Writes a file, compressed if its name ends in .gz.  path "-" or None: stdout.  A regular file
    is replaced as a whole; all else is written directly."""
    data = text.encode()
    if path in (None, '-'):
        path = 'stdout'
    elif path.endswith('.gz'):
        data = gzip.compress(data, 6)
    try:
        if path == 'stdout':
            with open(1, 'wb', closefd=False) as file:
                file.write(data)
            return
        old = os.stat(path) if os.path.exists(path) else None
        if old is None and os.path.islink(path) or \
                old and not stat.S_ISREG(old.st_mode) and not stat.S_ISDIR(old.st_mode):
            with open(path, 'wb') as file:
                file.write(data)
            return
        replace(path, data, old)
    except OSError as error:
        raise CommonError(f'{path}: cannot write: {error.strerror}') from error
