"""Sphinx configuration of the documentation."""

import configparser
import importlib.metadata
import pathlib

from docutils import nodes
from sphinx import errors

extensions = [
    'cliff.sphinxext',
    'matplotlib.sphinxext.plot_directive',
    'oslo_config.sphinxext',
    'reno.sphinxext',
]

project = 'os-placement-plugins'
copyright = 'os-placement-plugins maintainers'
master_doc = 'index'
html_theme = 'furo'
html_title = 'os-placement-plugins'
html_show_sourcelink = False
html_static_path = ['_static']
html_css_files = ['pages.css']

version = release = ''

plot_formats = ['svg']
plot_html_show_formats = False
plot_html_show_source_link = False
plot_rcparams = {
    # Text stays text.
    'svg.fonttype': 'none',
    'font.size': 9,
    'axes.grid': True,
    'grid.alpha': 0.3,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'legend.frameon': False,
}

_setup = configparser.ConfigParser()
_setup.read(pathlib.Path(__file__).resolve().parents[2] / 'setup.cfg')


def _name_version(app, doctree):
    """Name the version that reno calls 0.0.0 while there is no tag."""
    for title in doctree.findall(nodes.title):
        if title.astext() == '0.0.0':
            title[:] = [nodes.Text(_setup['metadata']['version'])]


#: What the generated pages read of the installed package.
_GENERATED = {
    'oslo.config.opts': {'senlin_plugins', 'nova_filters', 'heat_hints'},
    'openstack.os_placement_plugins.v1': {'aggregate_filter_explain'},
}


def _refuse_empty_pages(app, config):
    """Stop the build if the package is not installed.

    The pages of options and commands would be empty without an error.
    """
    for group, names in _GENERATED.items():
        missing = names - importlib.metadata.entry_points(group=group).names
        if missing:
            raise errors.ConfigError(
                f'No entry point "{min(missing)}" in "{group}": install '
                'os-placement-plugins in the environment of Sphinx.'
            )


def setup(app):
    app.connect('config-inited', _refuse_empty_pages)
    # Before Sphinx copies the titles into the tables of contents.
    app.connect('doctree-read', _name_version, priority=100)
