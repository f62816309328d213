# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Checks of a fabric: subnet managers, links and switches."""
import collections

import common
from fabric import PORT_STATES, SPEEDS, SWITCH, supported
from results import FAILURE, NOT_CHECKED, OK, WARNING, one_or, s

ONE_VL = 1              # code of OperationalVLs (IBA 14.2.5.6): only VL0
LINK_UP = 5             # PortPhysicalState
# The counters of PortCounters, and the values at which they stop.
FLAP_COUNTERS = {'LinkDowned': 255}
ERROR_COUNTERS = {'SymbolErrors': 65535, 'LinkErrorRecovery': 255, 'PortRcvErrors': 65535,
                  'LocalLinkIntegrityErrors': 15, 'ExcessiveBufferOverrunErrors': 15}
REMEDY = ('clear the counters (perfquery -R) and look again in an hour; if they grow, move the traffic away '
          'from the link (ibfattree drain "SWITCH[PORT]"), then clean or replace the cable')
SM_STATES = ('not active', 'discovering', 'standby', 'master')


def fabric(d, r):
    facts = d.facts
    if facts['error']:
        r.say(FAILURE, facts['error'], 'see the checks of this node above; if they are ok, start '
              'opensm, or give the M_Key with --m-key')
        return
    n, missing = facts['fabric'], facts['without_table']
    text = (f'{common.switches(n["switches"])}, {common.host_ports(n["end_ports"])}, '
            f'{common.links(n["switch_cables"])} between switches; read in {facts["seconds"]:.1f} s')
    if missing:
        r.add(f'switches whose table could not be read: {missing}')
        r.say(FAILURE, text, 'find out why these switches do not answer; the paths over them are '
              'not known')
    else:
        r.say(OK, text)


def m_key(d, r):
    key, given = int(d.facts.get('m_key', '0'), 16), d.options['m-key']
    if 'm_key' not in d.facts:
        r.say(NOT_CHECKED, 'the M_Key can be read from a live fabric only')
    elif not key:
        r.say(OK, 'the local port shows no M_Key')
    elif key == given:
        r.say(OK, 'the local port has the given M_Key')
    else:
        r.say(WARNING, f'the local port has an M_Key, and {"another" if given else "none"} was '
              'given; protected switches may not answer',
              'give the fabric\'s M_Key (m_key in opensm.conf) with --m-key')


def in_state(sms, state):
    return sum(sm.get('state') == SM_STATES.index(state) for sm in sms)


def sm(d, r):
    sms = d.facts['sms']
    for sm in sms:
        text = f'"{sm["name"]}": guid={sm["guid"]} lid={sm["lid"]} '
        if 'state' in sm:
            state = SM_STATES[sm['state']] if sm['state'] < len(SM_STATES) else 'unknown'
            r.add(f'{text}state={state} priority={sm["priority"]}', sm['guid'])
        else:
            r.add(f'{text}does not answer', sm['guid'])
    masters = in_state(sms, 'master')
    if masters == 1:
        r.say(OK, f'one master, {r.n} subnet manager{s(r.n)} in all')
    elif not masters:
        r.say(FAILURE, 'no subnet manager is master',
              'start opensm; if it runs, look for errors in its log')
    else:
        r.say(FAILURE, f'{masters} subnet managers are master at the same time',
              'stop all but one; then compare their sm_key, subnet_prefix and M_Key')


def standby(d, r):
    n = in_state(d.facts['sms'], 'standby')
    if n:
        r.say(OK, f'{n} standby subnet manager{s(n)}')
    else:
        r.say(WARNING, 'no standby subnet manager; while the master is down, nothing is rerouted',
              'run opensm with the same opensm.conf and plugin on a second node, with a lower '
              'sm_priority, and share the state file (docs/rollout.md)')


def sm_version(d, r):
    for sm in d.facts['sms']:
        r.add(f'"{sm["name"]}" ({sm["guid"]})', sm['guid'])
    r.say(NOT_CHECKED, 'SMInfo does not contain the version; run "opensm --version" on the '
          f'node{s(r.n)} below' if r.n else 'no subnet manager')


# ---- links and switches -------------------------------------------------------------------------

def silent(d, r):
    f = d.fabric
    linked = {(f.guid(x.sw), x.port) for x in f.both_ends()}
    at = {sw['guid']: sw for sw in f.switches}
    for (guid, port), info in f.ports.items():
        if guid in at and info['physical_state'] == LINK_UP and (guid, port) not in linked:
            r.add(f'"{at[guid]["name"]}" ({guid}) port {port}', guid, port)
    if not r.n:
        r.say(OK, 'both ends of every link answer')
        return
    r.say(FAILURE, f'{r.n} link{s(r.n)} with only one end that answers: the port is up, but the '
          'node behind it does not answer',
          'reset the node behind each of these ports, or unplug the cable')


def link_state(d, r):
    f = d.fabric
    for link in f.links:
        state = f.near(link).get('state', 0)
        if state in (2, 3):
            r.add(f'{f.ends(link)}: {PORT_STATES[state]}', f.guid(link.sw), link.port)
    if not r.n:
        r.say(OK, 'all links are Active')
        return
    r.say(WARNING, f'{r.n} link{one_or(r.n, " is", "s are")} not Active',
          'if this persists, the subnet manager cannot configure these ports: look for their GUIDs '
          'in its log')


def slow_links(f, width):
    """The links that are slower (or narrower) than both of their ends support, if a switch at one
    of the ends has a faster link to the same kind of node (switch or host).  None: no rate is
    known.

    Dumps do not contain the supported values.  With dumps, only links between switches are
    compared."""
    best = collections.Counter()
    rate = (lambda link: link.width) if width else (lambda link: link.speed)
    for link in f.both_ends():
        best[link.sw, link.kind] = max(best[link.sw, link.kind], rate(link))
    if not any(best.values()):
        return None
    out = []
    for link in f.links:
        value = rate(link)
        most = min(supported(f.near(link), width), supported(f.far(link), width))
        if not value or (value >= most if most else link.kind != SWITCH):
            continue
        if value < best[link.sw, link.kind] or \
                link.kind == SWITCH and value < best[link.peer, SWITCH]:
            out.append(link)
    return out


def check_rate(d, r, width):
    f, less = d.fabric, 'narrower' if width else 'slower'
    slow = slow_links(f, width)
    if slow is None:
        r.say(NOT_CHECKED, f'the fabric file gives no {"widths" if width else "speeds"}')
        return
    for link in slow:
        value = f'{link.width}x' if width else SPEEDS[link.speed]
        r.add(f'{f.ends(link)}: {value}', f.guid(link.sw), link.port)
    if not r.n:
        r.say(OK, f'no link is {less} than other links of its switches')
        return
    r.say(WARNING, f'{r.n} link{one_or(r.n, " is", "s are")} {less} than other links of '
          f'{one_or(r.n, "its", "their")} switches',
          'reseat or replace the cable; the engines route as many flows over a link with fewer '
          'lanes as over any other link' if width else
          'reseat or replace the cable, then check the speeds that both ports enable')


def link_width(d, r):
    check_rate(d, r, True)


def link_speed(d, r):
    check_rate(d, r, False)


def list_counters(d, r, counters, option, remedy):
    """Lists the ports at which one of the counters is above the limit, which the option sets."""
    f, limit, silent = d.fabric, d.options[option], d.facts['no_counters']
    if not any('counters' in p for p in f.ports.values()):
        r.say(NOT_CHECKED, 'no switch answers a Get of its error counters')
        return
    for link in f.both_ends():
        values = f.near(link).get('counters', {})
        above = [f' {name}={values[name]}{" or more" if values[name] == most else ""}'
                 for name, most in counters.items() if values.get(name, 0) > limit]
        if above:
            r.add(f'{f.ends(link)}:{"".join(above)}', f.guid(link.sw), link.port)
    if r.n:
        r.say(WARNING, f'{r.n} port{one_or(r.n, " has", "s have")} a counter above '
              f'--{option} {limit}', remedy)
    else:
        r.say(OK, f'no counter of a port is above --{option} {limit}')
    if silent:
        r.add(f'switches that did not answer: {silent}')


def link_flaps(d, r):
    list_counters(d, r, FLAP_COUNTERS, 'flaps', REMEDY)


def link_errors(d, r):
    list_counters(d, r, ERROR_COUNTERS, 'errors', REMEDY)


def lft_capacity(d, r):
    f, top = d.fabric, d.fabric.fabric['max_lid']
    for i, sw in f.live_switches:
        if sw['lft_cap'] and sw['lft_cap'] <= top:
            r.add(f'{f.switch(i)}: {sw["lft_cap"]} entries', sw['guid'])
    if not r.n:
        r.say(OK, f'the tables of all switches have room for LID {top}, the highest in use')
        return
    r.say(FAILURE, f'{r.n} switch{one_or(r.n, " has", "es have")} no table entry for LID {top}, '
          'which is in use',
          'use lower LIDs: stop opensm and delete its file guid2lid, or reduce lmc')


def lft_top(d, r):
    f, top = d.fabric, d.fabric.fabric['max_lid']
    for i, sw in f.live_switches:
        if sw['lft_top'] < top < sw['lft_cap']:
            r.add(f'{f.switch(i)}: LinearFDBTop={sw["lft_top"]}', sw['guid'])
    if not r.n:
        r.say(OK, f'LinearFDBTop of all switches covers the LIDs in use, up to {top}')
        return
    r.say(FAILURE, f'{r.n} switch{one_or(r.n, " drops", "es drop")} packets to the highest LIDs in '
          f'use (up to {top})', 'make opensm sweep (kill -HUP); if this persists, the switches did '
          'not accept OpenSM\'s SwitchInfo')


def vls(d, r):
    f = d.fabric
    for link in f.links:
        if link.kind == SWITCH and f.near(link).get('vls') == ONE_VL:
            r.add(f.ends(link), f.guid(link.sw), link.port)
    if not r.n:
        r.say(OK, 'all links between switches have two data VLs or more')
        return
    r.say(WARNING, f'{r.n} link{s(r.n)} between switches {one_or(r.n, "has", "have")} one data VL '
          'only; ddlr then repairs without its second VL',
          'for ddlr, set max_op_vls to 2 or more in opensm.conf; dmodc and sftree need one VL only')


def adaptive(d, r):
    f, silent = d.fabric, d.facts['no_adaptive']
    for i, sw in f.live_switches:
        if sw['adaptive']:
            r.add(f.switch(i), sw['guid'])
    if not r.n and silent:
        r.say(NOT_CHECKED, f'{common.switches(silent)} of NVIDIA did not answer a Get of '
              'AdaptiveRoutingInfo')
    elif not r.n:
        r.say(OK, 'no switch reports adaptive routing')
    else:
        r.say(WARNING, f'adaptive routing is on at {r.n} switch{one_or(r.n, "", "es")}: loads and '
              'paths are those of the forwarding tables, but these switches choose other ports too',
              'do not use this plugin together with adaptive routing: it does not configure the '
              'groups of ports, and does not check their paths for credit loops')
