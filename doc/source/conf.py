"""Sphinx configuration of the documentation."""

extensions = [
    'matplotlib.sphinxext.plot_directive',
    'openstackdocstheme',
    'oslo_config.sphinxext',
    'reno.sphinxext',
]

project = 'os-placement-plugins'
copyright = 'os-placement-plugins maintainers'
master_doc = 'index'
html_theme = 'openstackdocs'
pygments_style = 'native'

openstackdocs_repo_name = 'os-placement-plugins'
openstackdocs_auto_name = False
openstackdocs_auto_version = False
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
