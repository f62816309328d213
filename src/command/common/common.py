# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the programs in Python share: options, errors, running the command ibfattree, and writing one
file or one JSON object."""
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback
import types

U64_MAX = 2**64 - 1
LINE_MAX = 16 << 20
LIST_MAX = 64           # number of times that an option may be given
# control characters, separators of lines, characters that change the direction of text, and bytes
# that are not UTF-8 (surrogateescape)
HIDDEN = re.compile('[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')
OPTION = re.compile(r'  (?:-[a-z], )?--([a-z0-9-]+)(?: (\S+))? +(\S.*)')


class CommonError(Exception):
    """The message is one line.  No message: it has already been printed."""


# ---- options ------------------------------------------------------------------------------------

def word(command, option, text, words):
    """words: "one|two"."""
    if text not in words.split('|'):
        raise CommonError(f"{command}: --{option} expects {words}, not '{text}'")
    return text


def number(command, option, text, least, most):
    match = re.fullmatch('(0[xX](?=.))?[0-9a-fA-F]{1,20}', text)
    try:
        value = int(text, 16 if match[1] else 8 if text.startswith('0') else 10) if match else None
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        limits = '' if most == U64_MAX else f' from {least} to {most}'
        raise CommonError(f"{command}: --{option} expects a number{limits}, not '{text}'")
    return value


def parse(command, text, words, lists=()):
    """Parses words by the rules of the commands in C.  text, for --help, has the options, the
    placeholders of their values, their defaults, and in its first line the arguments.  Returns the
    options as attributes, and the arguments.  lists: options that may be given several times."""
    kinds, options, arguments, words = {}, {}, [], list(words)
    for match in filter(None, map(OPTION.fullmatch, text.splitlines())):
        name, placeholder, more = match.groups()
        default = re.search(r'\(default: (.*)\)$', more)
        kinds[name] = placeholder
        options[name] = [] if name in lists else default[1] if default else \
            None if placeholder else False
    while words:
        given = words.pop(0)
        if given == '--':
            arguments += words
            break
        if given in ('-h', '--help'):
            print(text, end='', flush=True)
            sys.exit(0)
        if not given.startswith('-') or given == '-':
            arguments.append('/dev/stdin' if given == '-' else given)
            continue
        name, equals, value = ('output', '', '') if given == '-o' else given[2:].partition('=')
        if name not in kinds or given[1] != '-' and given != '-o':
            raise CommonError(f"{command}: unknown option '{given}' (ibfattree {command} --help lists "
                              'the options)')
        if not kinds[name]:
            if equals:
                raise CommonError(f"{command}: --{name} takes no value, but '{value}' is given")
            options[name] = True
            continue
        if not equals and words:
            value = words.pop(0)
        if not value:
            raise CommonError(f'{command}: --{name} expects a value: {kinds[name]}')
        if re.fullmatch('[a-z]+([|][a-z]+)+', kinds[name]):
            word(command, name, value, kinds[name])
        if name not in lists:
            options[name] = value
        elif len(options[name]) < LIST_MAX:
            options[name].append(value)
        else:
            raise CommonError(f'{command}: --{name} {value}: the option may be given at most '
                              f'{LIST_MAX} times')
    usage = text.partition('\n')[0].replace('Usage: ', '')
    names = [name for name in usage.split()[2:] if name != '[OPTION...]']
    if len(arguments) < sum(name[0] != '[' for name in names):
        raise CommonError(f'{command}: missing argument; usage: {usage}')
    most = LIST_MAX if usage.rstrip(']').endswith('...') and names else len(names)
    if len(arguments) > most:
        raise CommonError(f"{command}: '{arguments[most]}' is one argument too many; usage: "
                          f'{usage}')
    return types.SimpleNamespace(**{name.replace('-', '_'): value
                                    for name, value in options.items()}), arguments


def passed(args, names):
    """Returns those of the options that are given, for ibfattree."""
    return [f'--{name}={value}' for name in names
            if (value := getattr(args, name.replace('-', '_'))) is not None]


def live_words(command, args):
    """Returns those of the options --ca, --port and --m-key that are given, for ibfattree."""
    number(command, 'port', args.port, 0, 254)
    number(command, 'm-key', args.m_key, 0, U64_MAX)
    return [f'--{name}={value}' for name, value in (('ca', args.ca), ('port', args.port),
                                                    ('m-key', args.m_key)) if value not in (None, '0')]


# ---- errors, text -------------------------------------------------------------------------------

def error(message):
    with contextlib.suppress(OSError):      # the reader of stderr is gone
        print(f'ibfattree: {HIDDEN.sub("?", message)}', file=sys.stderr)


def note(message):
    error(f'note: {message}')


class Ended(BaseException):
    """A signal ends the program, after its unfinished files and its processes."""


def end(signum, _):
    raise Ended(signum)


def run(main):
    """Ends the program with the status that main returns, or after an error with 2.  The command ibfattree
    blocks SIGINT, which would print a traceback during the imports."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for signum in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
        if signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, end)
    sys.stderr = sys.stderr or open(os.devnull, 'w', encoding='utf-8')     # closed by the caller
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if not sys.stdout:              # closed by the caller: only writing is an error
            os.dup2(os.open(os.devnull, os.O_RDONLY), 1)
            sys.stdout = open(1, 'w', encoding='utf-8', closefd=False)
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(encoding='utf-8', errors='surrogateescape')
        status = main()
        sys.stdout.flush()
        sys.exit(status)
    except CommonError as failure:
        message = str(failure)
    except OSError as failure:
        message = f'{failure.filename or "stdout: cannot write"}: {failure.strerror}'
    except Ended as ended:
        signal.signal(ended.args[0], signal.SIG_DFL)
        os.kill(os.getpid(), ended.args[0])
    except Exception as failure:        # pylint: disable=broad-except
        place = traceback.extract_tb(failure.__traceback__)[-1]
        message = f'internal error: {os.path.basename(place.filename)}:{place.lineno}: {failure!r}'
    if message:
        error(message)
    os._exit(2)                         # what is left for stdout cannot be written


def has_colours():
    return sys.stdout.isatty() and os.environ.get('TERM', 'dumb') != 'dumb' and \
        not os.environ.get('NO_COLOR')


def counted(count, one, many):
    return f'{count:,} {one if count == 1 else many}'


def switches(count):
    return counted(count, 'switch', 'switches')


def links(count):
    return counted(count, 'link', 'links')


def host_ports(count):
    return counted(count, 'host port', 'host ports')


def drained(part):
    """A line about a drained part."""
    try:
        when = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(part['since']))
    except (OverflowError, OSError, ValueError):
        when = '?'
    port = f'[{part["port"]}]' if part['port'] else ''
    return f'{part["guid"]}{port} "{part["name"]}" since={when} by={part["by"]}'


def json_text(value):
    """The text that the commands in C print, with six significant digits of a real number."""
    return re.sub('(?m)(?<=: )-?[0-9][0-9.e+-]*(?=,?$)',
                  lambda match: match[0] if match[0].isdigit() else f'{float(match[0]):.6g}',
                  json.dumps(value, indent=2, ensure_ascii=False))


# ---- opensm and opensm.conf ---------------------------------------------------------------------

def read_conf(path):
    """path: None: in the usual places.  Returns the path, or None if no file is there, and the
    values.  If a key is repeated, the last value is used, as in OpenSM."""
    usual = ('/etc/opensm/opensm.conf', '/etc/rdma/opensm.conf')
    found = path or next((name for name in usual if os.access(name, os.R_OK)), None)
    values = {}
    if found:
        with open(found, encoding='utf-8', errors='surrogateescape') as file:
            values = dict(words for words in (line.strip().split(maxsplit=1) for line in file)
                          if len(words) == 2)
    return found, {key: value for key, value in values.items() if value.lower() != '(null)'}


def options_file(conf):
    """conf: the values of opensm.conf.  Returns the plugin's option file that it names, or None."""
    found = re.search(r'(?:^|[ \t,])ibfattree:([^ \t,]+)', conf.get('event_plugin_options', ''))
    return found[1] if found else None


def find_file(directories, name):
    """The first readable file of this name, or None."""
    return next((path for path in (os.path.join(d, name) for d in directories if d)
                 if os.access(path, os.R_OK)), None)


def find_opensm():
    path = os.environ.get('PATH', '').split(':')
    return find_file(['/usr/sbin', '/usr/local/sbin', '/sbin', *path], 'opensm')


def file_version(path):
    """The version in the first string "OpenSM VERSION" of the file, and None; or None and the reason.
    The file is not run.  opensm compares the same string when it loads a plugin."""
    try:
        with open(path, 'rb') as file:
            found = re.search(rb'OpenSM ([0-9.]{1,31})\0', file.read())
    except OSError as failure:
        return None, failure.strerror
    return (found[1].decode(), None) if found else \
        (None, 'the file contains no OpenSM version')


# ---- the command, files -------------------------------------------------------------------------

def find_command(user, directory):
    """user: the command that needs it.  Returns the path of ibfattree: $IBFATTREE, or in this directory, or in $PATH."""
    beside = os.path.join(directory, 'ibfattree')
    program = os.environ.get('IBFATTREE') or (
        beside if os.access(beside, os.X_OK) else shutil.which('ibfattree'))
    if not program:
        raise CommonError(f'{user}: the command ibfattree is not installed; the variable IBFATTREE '
                          'may name it')
    return program


def run_command(command, words, directory):
    """Runs ibfattree, which prints its own errors, and may open the /dev/fd/N of this program.
    Returns its JSON object."""
    done = subprocess.run([find_command(command, directory), *words], stdout=subprocess.PIPE,
                          check=False, close_fds=False)
    if done.returncode not in (0, 1):
        raise has_ended(command, done.returncode)
    return json.loads(done.stdout)


def has_ended(command, code):
    return CommonError(f'{command}: ibfattree: ended by signal {-code}' if code < 0 else '')


class Running:
    """Runs ibfattree, which prints its own errors, and reads from `pipe` through its option."""

    def __init__(self, command, directory, words, option, fabric):
        records, self.pipe = os.pipe()
        os.set_inheritable(records, True)
        self.command = command
        self.process = subprocess.Popen(    # pylint: disable=consider-using-with
            [find_command(command, directory), *words, f'--{option}=/dev/fd/{records}', '--', fabric],
            stdout=subprocess.PIPE, close_fds=False)
        os.close(records)

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise has_ended(self.command, self.process.wait())
        return line

    def read(self):
        """Returns the next JSON object."""
        return json.loads(b''.join(iter(self.line, b'}\n')) + b'}')


def find_hosts(data):
    """data: the object that ibfattree count prints.  Adds to each host whether --hosts lists it, its
    place in the host order, and its switches, and to data the hosts of --hosts that are not in the
    fabric."""
    place = {port: i for i, port in reversed(list(enumerate(data['order'])))}
    entries = data.get('entries')
    listed = {entry.get('host') for entry in entries or ()}
    data['unknown_hosts'] = [entry['name'] for entry in entries or () if 'host' not in entry]
    for i, host in enumerate(data['hosts']):
        places = [place[port] for port in host['ports'] if port in place]
        host['listed'] = entries is None or i in listed
        host['place'] = min(places) if places else None
        host['switches'] = [data['end_ports'][port]['switch'] for port in host['ports']]
    return data


def no_host(data, path):
    """path: the file of --hosts, or None.  The error if there is no host to write."""
    unknown = data['unknown_hosts']
    listed = f'hosts of {path} that are not in the fabric: {len(unknown)}; the first: {unknown[0]}; ' \
        if unknown else ''
    return CommonError(f'no host to write; {listed}ports of channel adapters without a host name in '
                       f'their description: {data["nameless_ports"]}')


def lines(file, path):
    """Yields the lines of a file.  Refuses a long line, such as that of /dev/zero."""
    number = 0
    while line := file.readline(LINE_MAX):
        number += 1
        if len(line) == LINE_MAX:
            raise CommonError(f'{path}:{number}: line of at least {LINE_MAX - 1} bytes')
        yield line


def fill(file, text, path):
    """text: str, or an iterable of them."""
    packed = gzip.GzipFile('', 'wb', 6, file) if path.endswith('.gz') else contextlib.nullcontext(file)
    with packed as out:
        for part in [text] if isinstance(text, str) else text:
            out.write(part.encode(errors='surrogateescape'))


def replace(path, text, old):
    """Writes a file under another name, and renames it.  old: status of the replaced file or None."""
    if old and stat.S_ISDIR(old.st_mode):
        raise CommonError(f'{path}: cannot replace: Is a directory')
    real = os.path.realpath(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=os.path.basename(real) + '.',
                                             dir=os.path.dirname(real))
    except OSError as failure:
        raise CommonError(f'{path}: cannot create: {failure.strerror}') from failure
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
            fill(file, text, path)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.rename(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise


def write(path, text):
    """Writes a file, compressed if its name ends in .gz.  text: str, or an iterable of them.  path "-"
    or None: stdout.  A regular file is replaced as a whole; all else is written directly."""
    if path in (None, '-'):
        path = 'stdout'
    try:
        if path == 'stdout':
            with open(1, 'wb', closefd=False) as file:
                fill(file, text, path)
            return
        old = os.stat(path) if os.path.exists(path) else None
        if old is None and os.path.islink(path) or \
                old and not stat.S_ISREG(old.st_mode) and not stat.S_ISDIR(old.st_mode):
            with open(path, 'wb') as file:
                fill(file, text, path)
            return
        replace(path, text, old)
    except OSError as failure:
        raise CommonError(f'{path}: cannot write: {failure.strerror}') from failure
