# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Draws the share of fault sets that survive over the faults of the study, as SVG: one line for
each fabric, engine, command and kind of survival (see stats.py), with the 95 % confidence intervals as bars."""
from html import escape

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 860, 420, 70, 30, 60
PLOT = 520      # width of the axes; the legend is to the right
COLOURS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000')


def label(faults):
    return ' + '.join(faults) or 'none'


def survival(study, summary):
    """Returns the text of the SVG file."""
    faults = list(dict.fromkeys(label(c.faults) for c in study.cases))
    lines = {}
    for s in summary:
        for kind, share in s['survival'].items():
            key = ' '.join([s['fabric'], s['engine'], s['command'], *s['options'], kind])
            lines.setdefault(key, []).append((faults.index(label(s['faults'])), share))
    floor = min(s['share_low'] for points in lines.values() for _, s in points)
    floor = 0.0 if floor < 0.5 else 0.5 if floor < 0.9 else 0.9

    def x(i):
        return LEFT + (PLOT / 2 if len(faults) == 1 else i * PLOT / (len(faults) - 1))

    def y(share):
        return TOP + (1 - share) / (1 - floor) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           f'<title>{escape(study.name)}: share of fault sets that are survived</title>',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for i in range(6):
        share = floor + (1 - floor) * i / 5
        out.append(f'<path d="M{LEFT} {y(share):.1f}h{PLOT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{y(share) + 4:.1f}" text-anchor="end">'
                   f'{100 * share:.0f} %</text>')
    for i, name in enumerate(faults):
        out.append(f'<text x="{x(i):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">'
                   f'{escape(name)}</text>')
    for i, (name, points) in enumerate(sorted(lines.items())):
        colour = COLOURS[i % len(COLOURS)]
        path = ' '.join(f'{x(k):.1f},{y(s["share"]):.1f}' for k, s in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for k, s in points:
            out.append(f'<path d="M{x(k):.1f} {y(s["share_low"]):.1f}V{y(s["share_high"]):.1f}" '
                       f'stroke="{colour}"/><circle cx="{x(k):.1f}" cy="{y(s["share"]):.1f}" '
                       f'r="3" fill="{colour}"/>')
        out.append(f'<path d="M{LEFT + PLOT + 20} {TOP + 18 * i + 6}h20" stroke="{colour}" '
                   f'stroke-width="2"/><text x="{LEFT + PLOT + 46}" y="{TOP + 18 * i + 10}">'
                   f'{escape(name)}</text>')
    out.append('</svg>\n')
    return '\n'.join(out)
