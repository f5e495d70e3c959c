"""Boxes, lines and texts as an SVG, or by matplotlib in any format that it writes."""

from pathlib import Path
from typing import List, NamedTuple, Tuple, Union
from xml.sax.saxutils import escape

from ._text import escaped_name


class _Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    colour: str
    tip: str


class _Text(NamedTuple):
    x: float
    y: float
    text: str
    anchor: str
    size: int


class Drawing:
    """A picture of fixed size, in pixels from its upper left corner."""

    def __init__(self, width: int, height: int) -> None:
        self._size = width, height
        self._boxes: List[_Box] = []
        self._lines: List[Tuple[float, float, float, float]] = []
        self._texts: List[_Text] = []

    def box(self, x: float, y: float, width: float, height: float, colour: str, tip: str) -> None:
        """A filled rectangle; `tip` is shown when the mouse is on it."""
        self._boxes.append(_Box(x, y, width, height, colour, tip))

    def line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """A thin grey line."""
        self._lines.append((x1, y1, x2, y2))

    def text(self, x: float, y: float, text: str, anchor: str = "start", size: int = 12) -> None:
        """One line that has its `anchor` (start, middle, end) at x and its base at y."""
        self._texts.append(_Text(x, y, text, anchor, size))

    def save(self, file: Union[str, Path]) -> None:
        """Writes the picture. `.svg` needs nothing; other formats raise ImportError, in words, without matplotlib."""
        path = Path(file)
        if path.suffix == ".svg":
            path.write_text(self._svg(), encoding="utf-8")
        else:
            self._save_by_matplotlib(path)

    def _svg(self) -> str:
        width, height = self._size
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
        ]
        lines += [f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="#ddd"/>' for a, b, c, d in self._lines]
        lines += [
            f'<rect x="{b.x:.1f}" y="{b.y:.1f}" width="{b.width:.1f}" height="{b.height:.1f}" fill="{b.colour}" '
            f'stroke="white" stroke-width="0.4"><title>{escape(b.tip)}</title></rect>'
            for b in self._boxes
        ]
        lines += [
            f'<text x="{t.x:.1f}" y="{t.y:.1f}" text-anchor="{t.anchor}" font-size="{t.size}">{escape(t.text)}</text>'
            for t in self._texts
        ]
        return "\n".join([*lines, "</svg>", ""])

    def _save_by_matplotlib(self, path: Path) -> None:
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
            from matplotlib.patches import Rectangle
        except ImportError as error:
            raise ImportError(
                f"{escaped_name(path)} needs matplotlib ({error}); a name that ends in .svg needs nothing"
            ) from error
        width, height = self._size
        figure = Figure(figsize=(width / 100, height / 100), dpi=200)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        axes.axis("off")
        for x1, y1, x2, y2 in self._lines:
            axes.plot((x1, x2), (y1, y2), color="#dddddd", linewidth=0.7, zorder=0)
        for b in self._boxes:
            axes.add_patch(Rectangle((b.x, b.y), b.width, b.height, facecolor=b.colour, edgecolor="white", linewidth=0.2))
        anchors = {"start": "left", "middle": "center", "end": "right"}
        for t in self._texts:
            axes.text(t.x, t.y, t.text, ha=anchors[t.anchor], va="baseline", fontsize=t.size * 0.72, parse_math=False)
        figure.savefig(path)
