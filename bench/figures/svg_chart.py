"""A line chart as SVG text: axes, ticks, one named line per series; readable on light and dark pages."""

import math

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 66, 96, 44, 48

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #333 }
  .title { font-weight: 600 }
  .axis, .grid { stroke: #888; stroke-width: 1; fill: none }
  .grid { stroke-opacity: .25 }
  .series { fill: none; stroke-width: 2.2 }
  .mark { stroke-dasharray: 2 4 }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } }
"""
COLOURS = ["#2f7ed8", "#d9822b", "#3a9d5d", "#8a8a8a"]


class Scale:
    """Values to pixels, linear or by powers of ten."""

    def __init__(self, low, high, start, end, logarithmic=False):
        self.map = math.log10 if logarithmic else float
        self.low, self.high = self.map(low), self.map(high)
        self.start, self.end = start, end

    def __call__(self, value):
        share = (self.map(value) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def text(x, y, words, anchor="start", kind=""):
    kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{kind}>{words}</text>'


def apart(labels, least=16):
    """The labels' heights, moved down where two would touch."""
    moved, last = [], -math.inf
    for y, name, colour in sorted(labels):
        last = max(y, last + least)
        moved.append((last, name, colour))
    return moved


def chart(title, x, y, series, marks=()):
    """x and y: (name, low, high, [(value, words)], logarithmic); series: [(name, [(x, y)])];
    marks: [(x, words)], lines across the chart."""
    x_name, x_low, x_high, x_ticks, x_log = x
    y_name, y_low, y_high, y_ticks, y_log = y
    across = Scale(x_low, x_high, LEFT, WIDTH - RIGHT, x_log)
    up = Scale(y_low, y_high, HEIGHT - BOTTOM, TOP, y_log)
    floor, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
           f"<title>{title}</title><style>{STYLE}</style>", text(LEFT, 20, title, kind="title"),
           text(8, TOP - 10, y_name),
           text((LEFT + right) / 2, HEIGHT - 10, x_name, "middle")]
    for value, words in y_ticks:
        out.append(f'<path class="grid" d="M{LEFT} {up(value)}H{right}"/>')
        out.append(text(LEFT - 8, up(value) + 4, words, "end"))
    for value, words in x_ticks:
        out.append(f'<path class="axis" d="M{across(value)} {floor}v5"/>')
        out.append(text(across(value), floor + 20, words, "middle"))
    for value, words in marks:
        out.append(f'<path class="axis mark" d="M{across(value)} {floor}V{TOP}"/>')
        out.append(text(across(value) + 5, TOP + 12, words))
    out.append(f'<path class="axis" d="M{LEFT} {TOP}V{floor}H{right}"/>')
    labels = []
    for (name, points), colour in zip(series, COLOURS):
        path = "L".join(f"{across(a)} {up(b)}" for a, b in points)
        out.append(f'<path class="series" stroke="{colour}" d="M{path}"/>')
        labels.append((up(points[-1][1]) + 4, name, colour))
    for height, name, colour in apart(labels):
        out.append(f'<text x="{right + 8}" y="{height}" style="fill:{colour}">{name}</text>')
    return "\n".join(out + ["</svg>", ""])
