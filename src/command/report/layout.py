# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Places the switches of a fabric in the picture, and finds its missing links.

A fabric is one object "details" of "ibfattree whatif --details", see ibfattree-json(5).
Coordinates depend only on ranks, pods and planes, so the same fabric always gives the same picture.
One unit of x is the width of a leaf switch.  Leaves are in the order of their columns, so those of
a pod are side by side.  A switch of a higher rank is above the leaves of its pod.

    rank 2   [ plane 0 ][ plane 1 ][ plane 2 ]
    rank 1   [  pod 0  ]   [  pod 1  ]   ...
    rank 0   l l l l l l   l l l l l l
    x        0 1 2 3 4 5   6 7 8 ...

    pod      all switches of one rank above the same leaves; at rank 0, one leaf
    block    switches that are drawn as one unit.  At rank 0: the leaves below one pod of rank 1.
             At higher ranks: a pod, or, if planes have several switches in each pod, the switches
             of one plane in a pod.
    plane    a connected component of the switches above rank 0; its number is its first switch
"""
import collections
import itertools
import re

Place = collections.namedtuple('Place', 'rank first leaves plane sw')


def short(x, digits=7):
    """The number with this many significant digits."""
    x = float(f'{x:.{digits}g}')
    return int(x) if x.is_integer() else x


def neighbours(fabric):
    """Returns the set of switches with a link to each switch."""
    out = [set() for _ in fabric['switches']]
    for link in fabric['cables']:
        out[link['from']].add(link['to'])
        out[link['to']].add(link['from'])
    return out


def planes(switches, near):
    plane = [None] * len(switches)
    for first, switch in enumerate(switches):
        todo = [first] if switch['rank'] and plane[first] is None else []
        while todo:
            s = todo.pop()
            if plane[s] is None:
                plane[s] = first
                todo += (t for t in near[s] if switches[t]['rank'])
    return [s if p is None else p for s, p in enumerate(plane)]


class Layout:
    """x, pod_of, block_of: for each switch, its centre and the numbers of its pod and block.  A
    switch that is not above any leaf has pod -1."""

    def __init__(self, fabric):
        switches = fabric['switches']
        plane = planes(switches, neighbours(fabric))
        self.n_cols = max([fabric['fabric']['leaves'],
                           *(s['first_leaf'] + s['leaves'] for s in switches)])
        beside = itertools.count(self.n_cols)     # columns of switches that are above no leaf
        places = sorted(Place(s['rank'], s['first_leaf'] if s['leaves'] else next(beside),
                              s['leaves'] or 1, plane[i], i) for i, s in enumerate(switches))
        self.width = next(beside)
        self.pods, self.blocks = [], []
        self.x, self.pod_of, self.block_of = ([None] * len(places) for _ in range(3))
        above = {}      # leaf column -> its pod of rank 1
        groups = [list(g) for _, g in itertools.groupby(places, lambda p: p[:3])]
        for group in groups:
            pod = group[0]
            if pod.first < self.n_cols:
                if pod.rank == 1:
                    above.update((c, len(self.pods))
                                 for c in range(pod.first, pod.first + pod.leaves))
                self.pods.append(pod[:3])
            for p in group:
                self.pod_of[p.sw] = len(self.pods) - 1 if pod.first < self.n_cols else -1
        before = None
        for group in groups:
            for block, n in self.blocks_of(group, above):
                if block is None or block != before:
                    self.blocks.append([group[0].rank, None, None, 0])
                before = block
                self.put(group, n)

    def blocks_of(self, group, above):
        """Yields the blocks of a pod, as an identification (None: no block is the same) and the
        indices of its switches."""
        pod = group[0]
        n_planes = len({p.plane for p in group})
        several = n_planes > 1 and len(group) >= 2 * n_planes
        if pod.first >= self.n_cols:
            for i in range(len(group)):
                yield None, range(i, i + 1)
        elif not pod.rank:
            yield (0, above.get(pod.first)), range(len(group))
        else:
            for plane, part in itertools.groupby(range(len(group)),
                                                 lambda i: several and group[i].plane):
                yield (*pod[:3], plane), part

    def put(self, group, indices):
        """Places these switches of a pod in the last block."""
        step = group[0].leaves / len(group)
        block = self.blocks[-1]
        for i in indices:
            p = group[i]
            x = self.x[p.sw] = p.first + (i + 0.5) * step
            self.block_of[p.sw] = len(self.blocks) - 1
            if block[1] is None:
                block[1] = x - step / 2
            block[2] = x + step / 2
            block[3] += 1


# ---- missing links ------------------------------------------------------------------------------

def possible(fabric, near, unconnected, s):
    """Switches that may have lost all their links to s: those of the next rank that are linked to
    other switches below the parents of s, but not to s, and that have an unconnected port.  Those
    with the most unconnected ports come first."""
    rank = [switch['rank'] for switch in fabric['switches']]
    found = set()
    for parent in (t for t in near[s] if rank[t] > rank[s]):
        for sibling in (b for b in near[parent] if rank[b] == rank[s]):
            found.update(u for u in near[sibling] if rank[u] == rank[s] + 1 and unconnected[u])
    return sorted(found - near[s], key=lambda u: (-unconnected[u], u))


def missing_links(fabric):
    """Returns [lower switch, upper switch, number of missing links, inferred], sorted.

    Links of the nominal fabric that the fabric lacks are known; the others are inferred from other
    switches of the same two ranks.  If all links to a parent are missing, and there is no nominal
    fabric, the parent is guessed.
    """
    switches, near = fabric['switches'], neighbours(fabric)
    unconnected = [s['ports'] for s in switches]
    for link in fabric['cables']:
        unconnected[link['from']] -= 1
        unconnected[link['to']] -= 1
    for port in fabric['end_ports']:
        if 'switch' in port:
            unconnected[port['switch']] -= 1
    out, absent = [], collections.Counter()
    for link in fabric['absent']:
        a, b = link['from'], link['to']
        low, up = (a, b) if switches[a]['rank'] <= switches[b]['rank'] else (b, a)
        out.append((low, up, 1, 0))
        absent[frozenset((a, b))] += 1
    for group in fabric['incomplete']:
        a, b = group['from'], group['to']
        lost = group['cables'] - absent[frozenset((a, b))]
        if lost > 0:
            out.append((a, b, lost, 1))
    for i, s in enumerate(switches):
        lost = 0 if fabric['nominal'] else s['expected_parents'] - s['parents']
        if lost > 0:
            out += ((i, up, s['cables_to_parent'], 1)
                    for up in possible(fabric, near, unconnected, i)[:lost])
    return sorted(out, key=lambda m: (m[0], m[1], m[3]))


# ---- names --------------------------------------------------------------------------------------

def clean(name):
    """The name of a file as text: control characters and bytes that are not UTF-8 become "?"."""
    return re.sub('[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069'
                  '\ud800-\udfff]', '?', name)
