"""The version, and the folder that the package is in."""

from pathlib import Path

__version__ = "0.1.0"
FOLDER = Path(__file__).parents[1]  # on the path of a process that imports the package
