# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The result of a check, and words of its text."""
from common import HIDDEN

OK, WARNING, FAILURE, NOT_CHECKED = 'ok', 'warning', 'failure', 'not_checked'


def one_or(n, one, many):
    return one if n == 1 else many


def s(n):
    return '' if n == 1 else 's'


class Result:
    """text: the finding, or the reason why nothing was checked.  details: lines, each with the
    place where it was found: node GUID of a switch or port GUID of a host port (0: none), and the
    port of the switch (0: the switch itself, or a host port)."""

    def __init__(self, name):
        self.id, self.verdict, self.text, self.remedy = name, OK, '', ''
        self.details = []

    def say(self, verdict, text, remedy=''):
        self.verdict, self.text, self.remedy = verdict, HIDDEN.sub('?', text), remedy

    def add(self, text, guid='0x0000000000000000', port=0):
        self.details.append((HIDDEN.sub('?', text), guid, port))

    @property
    def n(self):
        return len(self.details)
