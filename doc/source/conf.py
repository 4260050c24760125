"""Sphinx configuration of the documentation."""

import configparser
import pathlib

from docutils import nodes

extensions = [
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


def setup(app):
    # Before Sphinx copies the titles into the tables of contents.
    app.connect('doctree-read', _name_version, priority=100)
