"""How `make docs` builds the site: Markdown by MyST, the look of Furo, nothing from the network. A warning ends the build."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "site"))

project = "gswgraph"
html_title = "gswgraph"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "extension"]
exclude_patterns = ["site"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2a6f97", "color-brand-content": "#2a6f97"},
    "dark_css_variables": {"color-brand-primary": "#7fbfe0", "color-brand-content": "#7fbfe0"},
}
html_show_copyright = False
html_copy_source = False
# headings as GitHub names them, so that links to them hold there and here
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # of Cypher Pygments knows no `+`
smartquotes = False  # `--option` stays as it is typed
default_role = "code"
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
autodoc_default_options = {"exclude-members": "__init__"}  # objects are made by `Memory.open` and its methods
autodoc_typehints_format = "short"
add_module_names = False
