# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Prints the results of scripts/gpu as tables of Markdown, and draws DIR/gpu.svg: the bus bandwidth
with a dead spine, divided by that of the complete fabric."""
import json
import os
import sys

NAMES = {'dmodc-off': 'dmodc, search off', 'dmodc': 'dmodc', 'dmodc-new': 'dmodc without --nominal',
         'updn': 'updn', 'ftree': 'ftree'}
SHOWN = ('all-reduce-ring', 'all-reduce-tree', 'all-to-all', 'all-to-all-pairwise', 'halo',
         'random-ring', 'bisection', 'exchange')
COLOURS = ('#56b4e9', '#0072b2', '#009e73', '#e69f00', '#d55e00')
LEFT, WIDTH, BAR, GAP, TOP = 150, 480, 9, 10, 46


def read(directory, state, name):
    with open(os.path.join(directory, f'{state}-{name}.json'), encoding='ascii') as file:
        return {r['collective']: r for r in json.load(file)['results']}


def table(state, results, value, digits):
    print(f'\n| {state} | ' + ' | '.join(NAMES.values()) + ' |\n' + '|---' * (len(NAMES) + 1) + '|')
    for kind in results['dmodc']:
        print(f'| {kind} | ' +
              ' | '.join(f'{value(results[name][kind]):.{digits}f}' for name in NAMES) + ' |')


def draw(whole, dead):
    height = TOP + len(SHOWN) * (len(NAMES) * BAR + GAP) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 60}" height="{height}" '
           'font-family="sans-serif" font-size="11">',
           '<title>Bus bandwidth with a dead spine</title>',
           f'<rect width="100%" height="{height}" fill="white"/>']
    for i, title in enumerate(NAMES.values()):
        x = 10 + sum(14 + 6.4 * len(t) + 14 for t in list(NAMES.values())[:i])
        out.append(f'<rect x="{x:.0f}" y="10" width="10" height="10" fill="{COLOURS[i]}"/>'
                   f'<text x="{x + 14:.0f}" y="19">{title}</text>')
    for percent in range(0, 101, 25):
        x = LEFT + WIDTH * percent / 100
        out.append(f'<path d="M{x:.0f} {TOP - 8}V{height - 26}" stroke="#ccc"/>'
                   f'<text x="{x:.0f}" y="{height - 12}" text-anchor="middle">{percent} %</text>')
    y = TOP
    for kind in SHOWN:
        out.append(f'<text x="{LEFT - 8}" y="{y + len(NAMES) * BAR / 2 + 4:.0f}" '
                   f'text-anchor="end">{kind}</text>')
        for i, name in enumerate(NAMES):
            part = dead[name][kind]['busbw'] / whole[name][kind]['busbw']
            out.append(f'<rect x="{LEFT}" y="{y + i * BAR}" width="{WIDTH * part:.1f}" '
                       f'height="{BAR - 1}" fill="{COLOURS[i]}"><title>{NAMES[name]}: '
                       f'{100 * part:.1f} %</title></rect>')
        y += len(NAMES) * BAR + GAP
    return '\n'.join(out) + '\n</svg>\n'


def main(directory):
    whole, dead = ({name: read(directory, state, name) for name in NAMES}
                   for state in ('whole', 'dead'))
    table('bus bandwidth in GB/s, all spines', whole, lambda r: r['busbw'], 1)
    table('bus bandwidth in GB/s, one dead spine', dead, lambda r: r['busbw'], 1)
    table('time in ms, one dead spine', dead, lambda r: r['seconds'] * 1e3, 2)
    with open(os.path.join(directory, 'gpu.svg'), 'w', encoding='ascii') as out:
        out.write(draw(whole, dead))


main(sys.argv[1])
