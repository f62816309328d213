# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Statistics of the results of a study.

What survives a fault set is counted in up to three ways:

    cabling     every pair of host ports has a physical path
    tables      every pair that has a physical path has one in the tables of the engine, which has
                routed again (for load, sim and collective: no flow or packet is lost)
    local       the same after the local repair of ddlr (option --local of whatif)

The share of the fault sets has a 95 % confidence interval by Wilson (1927).  Without random faults and
traffic, there is one set, and the share is exact.  The interval of a mean is 1.96 times its standard
error.  Quantiles are values that occur (the smallest value that is not
exceeded by at least this share of the sets).
"""
import collections
import math

Z = 1.959964        # 97.5 % quantile of the normal distribution
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
BINS = 20


# src/command/cli/whatif_show.c has the same formula in C, because `whatif` does not need Python.
def wilson(hits, n):
    """Returns the 95 % confidence interval of a share."""
    if not n:
        return 0.0, 1.0
    p, zz = hits / n, Z * Z / n
    middle = (p + zz / 2) / (1 + zz)
    half = Z / (1 + zz) * math.sqrt(p * (1 - p) / n + zz / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def decides(name):
    """True if outcomes() needs the value of this name."""
    return name in ('host_host_no_physical_path', 'host_host_not_arriving',
                    'local.host_host_not_arriving') or \
        name.startswith('lost.') or name.endswith('.lost')


def outcomes(record):
    """Returns {kind of survival: true or false}."""
    v = record['values']
    if record['command'] != 'whatif':
        return {'tables': not any(value for name, value in v.items()
                                  if name.startswith('lost.') or name.endswith('.lost'))}
    cut = v.get('host_host_no_physical_path', 0)
    out = {'cabling': not cut, 'tables': v.get('host_host_not_arriving', 0) <= cut}
    if 'local.host_host_not_arriving' in v:
        out['local'] = v['local.host_host_not_arriving'] <= cut
    return out


class Survived:
    """Counts the sets of a case, and for each kind of survival those that survive."""

    def __init__(self):
        self.sets, self.hits = 0, collections.Counter()

    def add(self, records):
        self.sets += len(records)
        for record in records:
            self.hits.update(outcomes(record))

    def enough(self, until):
        """True if the share of each kind is known within +-until."""
        ends = [wilson(hits, self.sets) for hits in self.hits.values()]
        return bool(ends) and all(high - low <= 2 * until for low, high in ends)


def survival(records, varies):
    """Returns {kind: number of sets that survive, their share, its interval, first other seed}."""
    out = {}
    for kind in outcomes(records[0]):
        hits = sum(outcomes(r)[kind] for r in records)
        low, high = wilson(hits, len(records)) if varies else (float(hits), float(hits))
        first = next((r['seed'] for r in records if not outcomes(r)[kind]), None)
        out[kind] = {'survived': hits, 'share': hits / len(records), 'share_low': low,
                     'share_high': high, 'seed_of_first_loss': first}
    return out


def quantile(ordered, q):
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def histogram(ordered):
    """Returns [from, to, count] of at most BINS bins of equal width; the last includes `to`."""
    low, high = ordered[0], ordered[-1]
    n = 1 if low == high else BINS
    counts = [0] * n
    for value in ordered:
        counts[min(n - 1, int((value - low) / (high - low) * n)) if n > 1 else 0] += 1
    return [[low + (high - low) * i / n, low + (high - low) * (i + 1) / n, c]
            for i, c in enumerate(counts) if c]


def describe(pairs):
    """pairs: (value, seed).  Returns the statistics of the values."""
    ordered = sorted(value for value, _ in pairs)
    n = len(ordered)
    mean = math.fsum(ordered) / n
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in ordered) / (n - 1)) if n > 1 else 0.0
    worst = max(pairs, key=lambda p: (p[0], -p[1]))
    out = {'n': n, 'mean': mean, 'mean_low': mean - Z * sd / math.sqrt(n),
           'mean_high': mean + Z * sd / math.sqrt(n), 'sd': sd, 'min': ordered[0],
           'max': ordered[-1], 'seed_of_max': worst[1]}
    for q in QUANTILES:
        out[f'p{q * 100:g}'] = quantile(ordered, q)
    out['histogram'] = histogram(ordered)
    return out


def summarize(study, by_case):
    """Returns one object for each case."""
    out = []
    for case in study.cases:
        records = by_case[case.number]
        values = {}
        for r in records:
            for name, value in r['values'].items():
                values.setdefault(name, []).append((value, r['seed']))
        out.append({'case': case.number, 'fabric': case.fabric, 'engine': case.engine,
                    'faults': list(case.faults), 'command': case.command,
                    'options': list(case.options), 'sets': len(records),
                    'survival': survival(records, case.varies),
                    'values': {name: describe(v) for name, v in sorted(values.items())}})
    return out
