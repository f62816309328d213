# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Draws results over the faults of the study, as SVG: one line for each fabric, engine and command.

The survival plot has the share of fault sets that survive (see stats.py), with the 95 %
confidence intervals as bars.  The plot of a value has its medians, with bars from the 5 % to the
95 % quantile.
"""
from html import escape

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 980, 420, 80, 30, 60
PLOT = 520      # width of the axes; the legend is to the right
COLOURS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000')
DASHES = ('', '6 3', '2 2', '8 3 2 3')


def label(faults):
    return ' + '.join(faults) or 'none'


def number(x):
    return f'{x:,.0f}' if x >= 10 or x == int(x) else f'{x:.2f}'


def draw(title, faults, lines, floor, top, show):
    """lines: {name: [(index of the faults, low, middle, high)]}; floor, top: the values at the ends
    of the axis; show: text of a value.  Returns the text of the SVG file."""
    height = max(HEIGHT, TOP + 18 * len(lines) + 20)

    def x(i):
        return LEFT + (PLOT / 2 if len(faults) == 1 else i * PLOT / (len(faults) - 1))

    def y(value):
        return TOP + (top - value) / (top - floor) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           f'<title>{escape(title)}</title>',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           f'<text x="{LEFT}" y="{TOP - 12}">{escape(title)}</text>']
    for i in range(6):
        value = floor + (top - floor) * i / 5
        out.append(f'<path d="M{LEFT} {y(value):.1f}h{PLOT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">'
                   f'{show(value)}</text>')
    for i, name in enumerate(faults):
        out.append(f'<text x="{x(i):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">'
                   f'{escape(name)}</text>')
    for i, (name, points) in enumerate(lines.items()):
        colour, dash = COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]
        path = ' '.join(f'{x(k):.1f},{y(middle):.1f}' for k, _, middle, _ in points)
        line = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        out.append(f'<polyline points="{path}" fill="none" {line}/>')
        for k, low, middle, high in points:
            out.append(f'<path d="M{x(k):.1f} {y(low):.1f}V{y(high):.1f}" '
                       f'stroke="{colour}"/><circle cx="{x(k):.1f}" cy="{y(middle):.1f}" '
                       f'r="3" fill="{colour}"/>')
        out.append(f'<path d="M{LEFT + PLOT + 20} {TOP + 18 * i + 6}h20" {line}/>'
                   f'<text x="{LEFT + PLOT + 46}" y="{TOP + 18 * i + 10}">{escape(name)}</text>')
    out.append('</svg>\n')
    return '\n'.join(out)


def key(s, *more):
    return ' '.join([s['fabric'], s['engine'], s['command'], *s['options'], *more])


def survival(study, summary, faults):
    lines = {}
    for s in summary:
        for kind, share in s['survival'].items():
            lines.setdefault(key(s, kind), []).append(
                (faults.index(label(s['faults'])), share['share_low'], share['share'],
                 share['share_high']))
    floor = min(low for points in lines.values() for _, low, _, _ in points)
    floor = 0.0 if floor < 0.5 else 0.5 if floor < 0.9 else 0.9
    return draw(f'{study.name}: share of fault sets that are survived', faults,
                dict(sorted(lines.items())), floor, 1.0, lambda v: f'{100 * v:.0f} %')


def of_value(study, summary, faults, name):
    """Returns the plot of a value, or None if no case has it."""
    lines = {}
    for s in summary:
        value = s['values'].get(name)
        if value:
            lines.setdefault(key(s), []).append(
                (faults.index(label(s['faults'])), value['p5'], value['p50'], value['p95']))
    if not lines:
        return None
    top = max(high for points in lines.values() for _, _, _, high in points)
    return draw(f'{study.name}: {name}', faults, lines, 0, top or 1, number)


def plots(study, summary):
    """Yields (name, text of the SVG file): the survival, and each value that the key "metrics" of
    the study names."""
    faults = list(dict.fromkeys(label(c.faults) for c in study.cases))
    yield 'survival', survival(study, summary, faults)
    for name in study.metrics or []:
        text = of_value(study, summary, faults, name)
        if text:
            yield name, text
