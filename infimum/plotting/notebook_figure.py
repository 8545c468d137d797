"""The figure that all drawings are. Needs matplotlib, and is imported when the first one is made."""

import io
from typing import Any

from matplotlib.figure import Figure

from infimum.support.notebook import notebook_shell


class NotebookFigure(Figure):
    """A figure that a notebook shows once: as the value of a cell, or else when the cell that made it ends.

    matplotlib's own figures are shown only if pyplot made them, or after `%matplotlib inline`; and then twice, if they are also
    the value of a cell.
    """

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self.was_shown = False
        shell = notebook_shell()
        if shell is not None:
            self._show_when_the_cell_ends(shell)

    def _show_when_the_cell_ends(self, shell: Any) -> None:
        from IPython.display import display

        def show() -> None:
            shell.events.unregister("post_execute", show)
            if not self.was_shown:
                display(self)
        shell.events.register("post_execute", show)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Asked first by whoever shows it. Empty: the format is the one that was chosen for all figures, or a PNG image."""
        self.was_shown = True
        return {}

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()
