"""The figures in docs/ are those that the tool of this build gives: figures.py BLOOMERY PROJECT."""

import pathlib
import subprocess
import sys
import tempfile


def main(tool, project):
    project = pathlib.Path(project)
    kept = project / "docs" / "figures"
    with tempfile.TemporaryDirectory() as drawn:
        subprocess.run([sys.executable, project / "bench" / "figures" / "draw.py", tool, drawn],
                       check=True, stdout=subprocess.DEVNULL)
        drawn = {file.name: file.read_text() for file in pathlib.Path(drawn).iterdir()}
    kept = {file.name: file.read_text() for file in kept.iterdir()}
    stale = sorted(name for name in drawn.keys() | kept.keys() if drawn.get(name) != kept.get(name))
    if stale:
        sys.exit(f"docs/figures: {', '.join(stale)} would be drawn otherwise now; ./dev figures")


if __name__ == "__main__":
    main(*sys.argv[1:])
