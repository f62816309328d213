# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Checks of files, ranks and tables."""
import math

import common
from results import FAILURE, NOT_CHECKED, OK, WARNING, one_or, s

# Check "balance" warns if (load of the tables in use) / (load of the best engine's tables) exceeds
# this number.  Load: the flows on the most loaded link, as the mean over all shifts.
BALANCE_TOLERANCE = 1.1


# ---- files and ranks ----------------------------------------------------------------------------

def check_guids(d, r, option, what, kind):
    """A GUID file must be readable, and have GUIDs of this fabric only."""
    path, found = d.guids[option], d.facts.get(option)
    if not found:
        return
    if found['error']:
        r.add(f'{what}: {found["error"]}')
    elif found['unknown'] or not found['count']:
        first = found.get('first', '0x0000000000000000')
        r.add(f'{what} {path}: GUIDs without a {kind} in this fabric: {found["unknown"]} of '
              f'{found["count"]}; the first: {first}')


def files(d, r):
    # one of the state files must be of this fabric: a node can run managers of several fabrics
    errors = [x['error'] for x in d.facts['states'] if x['is_state'] or not d.options['nominal']]
    if not errors and not any(d.guids.values()):
        r.say(NOT_CHECKED, 'no GUID file (root, cn or io) and no state file of the plugin is in '
              'use')
        return
    if errors and None not in errors:
        r.add(f'state file {errors[-1]}')
    check_guids(d, r, 'roots', 'root_guid_file', 'switch')
    check_guids(d, r, 'cn', 'cn_guid_file', 'port')
    check_guids(d, r, 'io', 'io_guid_file', 'port')
    if not r.n:
        r.say(OK, 'the GUID files and the state file of the plugin are those of this fabric')
        return
    r.say(WARNING, f'{r.n} file{one_or(r.n, " does", "s do")} not match this fabric',
          'correct the GUID files (cn and io files contain port GUIDs, root files contain node '
          'GUIDs); remove state files of other fabrics (the plugin writes a new one)')


def ranks(d, r):
    facts, n = d.facts, d.facts['fabric']
    if facts['ranks_error']:
        r.say(FAILURE, facts['ranks_error'],
              'list the root switches in a root_guid_file that matches this fabric')
        return
    horizontal = facts['horizontal_links']
    text = (f'{common.counted(n["ranks"], "rank", "ranks")} '
            f'({"from root_guid_file" if facts["roots_given"] else "inferred"}), '
            f'{common.counted(n["leaves"], "leaf switch", "leaf switches")}, '
            f'{common.counted(n["planes"], "plane", "planes")}, {common.counted(n["pods"], "pod", "pods")}, '
            f'{common.counted(horizontal, "horizontal link", "horizontal links")}, '
            f'{common.counted(facts["hosts_above"], "host", "hosts")} on upper switches')
    if n['leaves'] == n['switches'] > 2:
        r.say(WARNING, text, 'all switches have hosts, so the fabric is a ring, a mesh or a torus '
              'rather than a fat-tree: compare the load of the engines\' tables (check "balance") '
              'with the load of tables from dfsssp or nue')
    elif horizontal * 10 > n['switch_cables']:
        r.say(WARNING, text, 'more than a tenth of the links connect switches of the same rank, '
              'and dmodc does not use them: list the root switches in root_guid_file, or use '
              'sftree')
    else:
        r.say(OK, text)


def no_ranks(d, r):
    error = d.facts['ranks_error']
    if error:
        r.say(NOT_CHECKED, f'the fabric has no ranks: {error}')
    return bool(error)


def links_missing(d, r):
    if no_ranks(d, r):
        return
    f, n = d.fabric, d.facts['fabric']
    if d.options['nominal']:
        for c in d.facts['absent']:
            r.add(f'{f.switch(c["from"])} port {c["from_port"]} - {f.switch(c["to"])} port '
                  f'{c["to_port"]}', f.guid(c['from']))
        bad = n['missing_cables'] or n['missing_switches']
        text = (f'missing parts of {d.options["nominal"]}: {common.links(n["missing_cables"])} '
                f'between switches, {common.switches(n["missing_switches"])}, '
                f'{common.host_ports(n["missing_end_ports"])}')
    else:
        bad = 0
        for i, sw in enumerate(f.switches):
            lacks = sw['expected_parents'] - sw['above']
            if lacks > 0:
                bad += lacks
                r.add(f'{f.switch(i)}: {sw["above"]} of {sw["expected_parents"]} upward neighbours',
                      sw['guid'])
        text = 'no switch has fewer upward neighbours than others of its rank' if not bad else \
            f'{bad} upward neighbour{one_or(bad, " is", "s are")} missing, compared with other ' \
            'switches of the same rank'
    r.say(WARNING if bad else OK, text, 'repair these links; if they were removed on purpose, '
          'recreate the state file (--nominal, docs/rollout.md)' if bad else '')


def from_command(d, r, key, remedy):
    """A result that "ibfattree check" also has."""
    found = d.facts[key]
    r.say(found['verdict'], found['text'], remedy if found['count'] else '')
    for text, place in zip(found['details'], found['places']):
        r.add(text, place['guid'], place['port'])
    r.details += [None] * (found['count'] - r.n)        # only counted


def rails(d, r):
    from_command(d, r, 'rails', 'compare the cables of these ports with the plan; collectives that '
                 'follow the rails would cross spines')


def host_ports(d, r):
    from_command(d, r, 'host_ports', 'if the second port is meant as a reserve, connect it to '
                 'another leaf')


# ---- the tables in use --------------------------------------------------------------------------

def sm_reach(d, r):
    f = d.fabric
    sms = [sm for sm in d.facts['sms'] if 0 < sm['lid'] <= f.fabric['max_lid']]
    for sm in sms:
        for i in sm['unreached_from']:
            r.add(f'{f.switch(i)} to the subnet manager "{sm["name"]}" ({sm["guid"]}), '
                  f'lid {sm["lid"]}', f.guid(i))
    if not sms:
        r.say(NOT_CHECKED, 'no subnet manager with a LID is known')
    elif not r.n:
        r.say(OK, f'every switch reaches {one_or(len(sms), "the", "every")} subnet manager')
    else:
        r.say(FAILURE, f'missing paths from switches to subnet managers: {r.n}; traps of these '
              'switches are lost', 'make opensm reroute (kill -HUP), or use an engine of '
              'ibfattree: all of them connect every switch to every subnet manager')


def pairs(d, r):
    f, pairs = d.fabric, d.facts['check']['paths']['host_host']
    if not pairs['not_arriving']:
        r.say(OK, f'all {pairs["pairs"]:,} pairs of host ports have a path')
        return
    for lost in d.facts['lost']:
        host, n = f.hosts[lost['end_port']], lost['from_end_ports']
        r.add(f'{f.host(host)} is not reached by {n} host port{s(n)}', host['guid'])
    r.say(FAILURE if pairs['finding'] else WARNING,
          f'pairs of host ports without a path: {pairs["not_arriving"]:,} of {pairs["pairs"]:,}',
          'choose an engine: in the table below, the row "unreachable pairs" shows how many pairs '
          'each engine leaves without a path')


def loops(d, r):
    f, found = d.fabric, d.facts['check']['findings']['loops']
    if not found['count']:
        r.say(OK, 'no forwarding loop')
        return
    first = found['first']
    r.say(FAILURE, f'{common.counted(found["count"], "path loops", "paths loop")}; the first: from '
          f'{f.name(first["from"], "switch")} to {f.end(first["to"])}',
          'make opensm reroute (kill -HUP); if routing_engine is file, correct the lfts_file')


def credit_loops(d, r):
    f, found = d.fabric, d.facts['check']['credit_loops']
    if found['verdict'] != 'cycle':
        r.say(OK, 'no credit loop (checked as if all traffic used one VL)')
        return
    for link in found['cycle']:
        r.add(f'{f.name(link["from"], "switch")} port {link["from_port"]}', link['from']['guid'],
              link['from_port'])
    r.say(FAILURE, f'the tables in use can deadlock: packets on {found["length"]} links can wait '
          'for each other in a cycle, unless their paths use different VLs (to check this, run '
          '"ibfattree check" with --sl2vl and --psl)',
          'use an engine without credit loops; see the table below')


def shift_mean(tables):
    mean = tables['load_shift_mean']
    return math.nan if mean is None else mean


def best_engine(tables):
    """The tables of the engine to recommend, or None.  An engine is better if it has fewer
    unreachable pairs of host ports.  If these numbers are equal, it is better if its most loaded
    link has less load (mean over the shifts; differences below 0.005 do not count).  Of equally
    good engines, it is the first one."""
    best = None
    for t in tables:
        lost = t['host_host_not_arriving']
        if not best or lost < best['host_host_not_arriving'] or \
                lost == best['host_host_not_arriving'] and \
                shift_mean(t) < shift_mean(best) - 0.005:
            best = t
    return best


def balance(d, r):
    if no_ranks(d, r):
        return
    d.tables = d.facts['tables']
    in_use = d.tables[0] if 'check' in d.facts else None
    best = best_engine(d.tables[1:] if in_use else d.tables)
    d.best = best['name'] if best else None
    if not best or not in_use:
        r.say(NOT_CHECKED, 'the tables in use are not given (--lfts), so the engines cannot be '
              'compared with them')
        return
    now, then = shift_mean(in_use), shift_mean(best)
    if math.isnan(now) or math.isnan(then):
        r.say(NOT_CHECKED, 'the fabric has fewer than two hosts')
        return
    bad = now > then * BALANCE_TOLERANCE
    r.say(WARNING if bad else OK, f'most loaded link, mean over shift permutations: {now:.2f} '
          f'flows with the tables in use, {then:.2f} with {best["name"]}',
          f'use routing_engine {best["name"]}; docs/rollout.md describes the steps' if bad else '')
