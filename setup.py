"""The packages of a build: `gsw_graph`, and the rooms that stand at the top and install as
`gsw_graph.ROOM`. All else is in pyproject.toml."""

from setuptools import find_packages, setup

ROOMS = ("loaders", "cli", "cypher", "docker")

setup(
    packages=[
        *find_packages(include=["gsw_graph", "gsw_graph.*"]),
        "gsw_graph.examples",
        *(f"gsw_graph.{package}" for room in ROOMS for package in find_packages(include=[room, f"{room}.*"])),
    ],
    package_dir={
        "gsw_graph": "gsw_graph",
        "gsw_graph.examples": "examples",
        **{f"gsw_graph.{room}": room for room in ROOMS},
    },
)
