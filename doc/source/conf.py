"""Sphinx configuration of the documentation."""

import configparser
import importlib.metadata
import importlib.util
import pathlib

import yaml
from docutils import nodes, statemachine
from docutils.parsers import rst
from sphinx import errors

from heat_hints import conf as heat_conf
from heat_hints import providers
from os_placement_plugins import signature
from senlin_plugins import conf as senlin_conf

SOURCE = pathlib.Path(__file__).resolve().parent
ROOT = SOURCE.parents[1]

# The theme and matplotlib are optional, and reno reads a git repository. A
# distribution builds the pages from the source archive without them.
HAS_FURO = importlib.util.find_spec('furo')
HAS_MATPLOTLIB = importlib.util.find_spec('matplotlib')
HAS_RENO = importlib.util.find_spec('reno') and (ROOT / '.git').exists()

extensions = ['cliff.sphinxext', 'oslo_config.sphinxext']
if HAS_MATPLOTLIB:
    extensions.append('matplotlib.sphinxext.plot_directive')
if HAS_RENO:
    extensions.append('reno.sphinxext')

project = 'os-placement-plugins'
copyright = 'os-placement-plugins maintainers'
master_doc = 'index'
html_theme = 'furo' if HAS_FURO else 'alabaster'
html_show_sourcelink = False
html_static_path = ['_static']
html_css_files = ['pages.css']

#: Of what is installed, as the options and the commands on the pages are.
version = release = importlib.metadata.version(project)
html_title = f'{project} {release}'

#: The numbers of a run that stand in sentences, each by its name: the table in
#: the output of a benchmark, the row, and whether it is for Nova alone.
_MEASURED = {
    'soft-300': ('Servers on the host', 'soft group of 9 on 300', True),
    'strict-300': ('Servers in ERROR', 'anti-affinity: 9 on 300', True),
    'unchecked': ('Servers on the host', 'anti-affinity: 9 on 9', True),
    'broken': ('Servers that break', '9 on 12, 20 %', False),
    'broken-alone': ('Servers that break', '9 on 12, 20 %', True),
    'balance': ('Memory that', '25 groups of 3', False),
    'balance-alone': ('Memory that', '25 groups of 3', True),
    'at-once': ('Memory that', '60 groups of 1, 15 hosts, all', False),
    'at-once-alone': ('Memory that', '60 groups of 1, 15 hosts, all', True),
}


def _read_number(title, row, alone):
    """Return a number for 16 processes."""
    text = '\n'.join(
        (SOURCE / f'benchmarks-{benchmark}.out').read_text('utf-8')
        for benchmark in ('spread', 'balance')
    )
    for table in text.split('\n\n'):
        heads: list[str] = []
        for line in table.splitlines():
            cells = [cell.strip() for cell in line.split('|')]
            if '16' in cells:
                heads = cells
            if table.startswith(title) and line.startswith(f'| {row}'):
                nova, ours = cells[heads.index('16')].split(' / ')
                return nova if alone else ours
    raise LookupError(f'{title}: {row}')


rst_prolog = '\n'.join(
    f'.. |{name}| replace:: {_read_number(*place)}'
    for name, place in _MEASURED.items()
)

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


def _default(options, name):
    """Return the default of an option."""
    (option,) = (option for option in options if option.name == name)
    return option.default


#: Numbers of the pages that the code knows.
_NUMBERS = {
    'MIN_KEY_LENGTH': signature.MIN_KEY_LENGTH,
    'MAX_CALLS': providers.MAX_CALLS,
    'provider_timeout': _default(heat_conf.OPTS, 'provider_timeout'),
    'region_timeout': _default(senlin_conf.OPTS, 'region_timeout'),
}
rst_epilog = '\n'.join(
    f'.. |{name}| replace:: {number}' for name, number in _NUMBERS.items()
)

_setup = configparser.ConfigParser()
_setup.read(ROOT / 'setup.cfg')


def _name_version(app, doctree):
    """Name the version that reno calls 0.0.0 while there is no tag."""
    for title in doctree.findall(nodes.title):
        if title.astext() == '0.0.0':
            title[:] = [nodes.Text(_setup['metadata']['version'])]


class Picture(rst.Directive):
    """Show the text of a picture that matplotlib would draw."""

    optional_arguments = 2
    option_spec = {'alt': rst.directives.unchanged}
    has_content = True

    def run(self):
        text = self.options.get('alt', '')
        return [nodes.paragraph(text, text)]


class ReleaseNotes(rst.Directive):
    """Show the notes that reno would read from a git repository."""

    has_content = False

    def run(self):
        container = nodes.container()
        lines = statemachine.StringList()
        for note in sorted((ROOT / 'releasenotes' / 'notes').glob('*.yaml')):
            for section in yaml.safe_load(note.read_text('utf-8')).values():
                texts = section if isinstance(section, list) else [section]
                for text in texts:
                    for line in [*text.splitlines(), '']:
                        lines.append(line, str(note))
        self.state.nested_parse(lines, 0, container)
        return container.children


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
    if not HAS_MATPLOTLIB:
        app.add_directive('plot', Picture)
    if not HAS_RENO:
        app.add_directive('release-notes', ReleaseNotes)
