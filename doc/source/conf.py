"""Sphinx configuration of the documentation."""

extensions = [
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

# The options of the three packages, as the configuration files name them.
exclude_patterns = []
