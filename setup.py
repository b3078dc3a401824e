"""The packages of a build: `gsw_graph`, and the packages in folders at the top that install
as `gsw_graph.NAME`. All else is in pyproject.toml."""

from setuptools import find_packages, setup

TOP_PACKAGES = ("loaders", "cli", "cypher", "docker")

setup(
    packages=[
        *find_packages(include=["gsw_graph", "gsw_graph.*"]),
        "gsw_graph.examples",
        *(
            f"gsw_graph.{package}"
            for top in TOP_PACKAGES
            for package in find_packages(include=[top, f"{top}.*"])
        ),
    ],
    package_dir={
        "gsw_graph": "gsw_graph",
        "gsw_graph.examples": "examples",
        **{f"gsw_graph.{top}": top for top in TOP_PACKAGES},
    },
)
