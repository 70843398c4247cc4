"""How far long work is."""

import sys


class Bar:
    """Points of a study that are done, as `progress` wants it told: a function of (done, points), or True for a bar.

    The bar is tqdm's where that is installed (in Jupyter its widget), else Jupyter's own display, else a line on standard error.
    """

    def __init__(self, points, wanted):
        self.tell, self.close = None, lambda: None
        if callable(wanted):
            self.tell = wanted
        elif wanted:
            made = _of_tqdm(points) or _of_jupyter(points) or _of_a_line()
            self.tell, self.close = made


def _of_tqdm(points):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar = tqdm(total=points, unit="point")
    return lambda done, _: bar.update(done - bar.n), bar.close


def _of_jupyter(points):
    """HTML's own progress bar in a cell; nothing outside of Jupyter."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):
        return None
    from IPython.display import HTML, display

    def html(done):
        return HTML(f"<progress value='{done}' max='{points}'></progress> {done} of {points} points")

    shown = display(html(0), display_id=True)
    return lambda done, _: shown.update(html(done)), lambda: None


def _of_a_line():
    def tell(done, points):
        sys.stderr.write(f"\r{done} of {points} points")
        sys.stderr.flush()

    return tell, lambda: sys.stderr.write("\n")
