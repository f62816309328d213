# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The fabric that "ibfattree facts" prints: names, links, and PortInfo of the ports."""
import collections

PORT_STATES = ('no change', 'Down', 'Initialize', 'Armed', 'Active')
SPEEDS = (None, 'SDR', 'DDR', 'QDR', 'FDR10', 'FDR', 'EDR', 'HDR', 'NDR', 'XDR')
# Bits of PortInfo, the best one first: LinkWidthSupported, LinkSpeedExtSupported,
# LinkSpeedSupported
WIDTH_BITS = ((8, 12), (4, 8), (2, 4), (16, 2), (1, 1))
EXTENDED_SPEED_BITS = ((8, 'NDR'), (4, 'HDR'), (2, 'EDR'), (1, 'FDR'))
SPEED_BITS = ((4, 'QDR'), (2, 'DDR'), (1, 'SDR'))

Link = collections.namedtuple('Link', 'sw port kind width speed peer peer_port')
SWITCH, HOST = 'switch', 'host'


class Fabric:
    """The output of "ibfattree facts" for a fabric."""

    def __init__(self, facts):
        self.facts, self.fabric = facts, facts['fabric']
        self.switches, self.hosts = facts['switches'], facts['end_ports']
        self.live = 'live_ports' in facts
        self.ports = {(p['guid'], p['port']): p for p in facts.get('live_ports', ())}
        live = {s['guid']: s for s in facts.get('live_switches', ())}
        self.live_switches = [(i, live[sw['guid']]) for i, sw in enumerate(self.switches)
                              if sw['guid'] in live]
        self.names = collections.Counter(part['name'] for part in self.switches + self.hosts)
        self.links = sorted(
            [Link(c['from'], c['from_port'], SWITCH, c['width'], SPEEDS.index(c['speed']), c['to'],
                  c['to_port']) for c in facts['cables']] +
            [Link(e['switch'], e['port'], HOST, e['width'], SPEEDS.index(e['speed']), i,
                  e['own_port']) for i, e in enumerate(self.hosts) if 'switch' in e])

    def guid(self, switch):
        return self.switches[switch]['guid']

    def name(self, part, word):
        """A switch or host port.  word: what it is, if it has no name."""
        if not part['name']:
            return f'{word} {part["guid"]}'
        return f'"{part["name"]}"' + (f' ({part["guid"]})' if self.names[part['name']] > 1 else '')

    def switch(self, i):
        return self.name(self.switches[i], 'switch')

    def host(self, host):
        return f'LID {host["lid"]}' + (f' of {self.name(host, "port")}' if host['lid'] else '')

    def end(self, to):
        """A destination, as the check prints it."""
        return f'LID {to["lid"]}' + ('' if to['kind'] == 'none' else ' of ' + self.name(
            to, 'switch' if to['kind'] == 'switch' else 'port'))

    def ends(self, link):
        far = self.switch(link.peer) if link.kind == SWITCH else self.host(self.hosts[link.peer])
        return f'{self.switch(link.sw)} port {link.port} - {far} port {link.peer_port}'

    def both_ends(self):
        """All ports of switches with a link, each with the link that leaves there."""
        back = [Link(x.peer, x.peer_port, SWITCH, x.width, x.speed, x.sw, x.port)
                for x in self.links if x.kind == SWITCH]
        return sorted(self.links + back)

    def near(self, link):
        """PortInfo of the switch port."""
        return self.ports.get((self.guid(link.sw), link.port), {})

    def far(self, link):
        part = self.switches[link.peer] if link.kind == SWITCH else self.hosts[link.peer]
        return self.ports.get((part['guid'], link.peer_port), {})


def best_bit(port, key, bits):
    return next((value for bit, value in bits if port.get(key, 0) & bit), None)


def supported(port, width):
    """The greatest width or speed of a port; 0: not known."""
    if width:
        return best_bit(port, 'widths', WIDTH_BITS) or 0
    return SPEEDS.index(best_bit(port, 'extended_speeds', EXTENDED_SPEED_BITS) or
                        best_bit(port, 'speeds', SPEED_BITS))
