# SPDX-License-Identifier: Apache-2.0

"""``heat-hints-status`` and heat-engine, on random heat.conf files."""

from oslo_config import cfg

from heat_hints import conf
from tests import status_fuzz
from tests.status_fuzz import KEY, MARK

#: The start of heat-engine up to its resource types: it forks no worker.
PROGRAM = """
from testing.heat import worker
import heat.cmd.engine
from testing import starts
worker.load()
heat.cmd.engine.service.launch = lambda *args, **kwargs: None
starts.serve(heat.cmd.engine.launch_engine)
"""

ON_ERROR = ('heat_hints', 'on_error')
PLUGINS = ('DEFAULT', 'plugin_dirs')
#: Modules of resource types in ``plugin_dirs``, by the name of the folder.
MODULES = {
    'raises': 'raise RuntimeError("it raises")',
    'exits': 'raise SystemExit',
    'ends': 'import os\nos._exit(0)',
    'mapping_raises': 'def resource_mapping():\n    return 1 / 0',
    'mapping_is_odd': 'def resource_mapping():\n    return {"OS::X": 3}',
    'sleeps': 'import signal\nsignal.pause()',
}
ENVIRONMENTS = {
    'replaces': 'resource_registry: {"OS::Nova::Server": "OS::Heat::None"}',
    'nowhere': 'resource_registry: {"OS::Nova::Server": nowhere.yaml}',
    'broken': '{',
}


class StatusFuzzTest(status_fuzz.FuzzCase):
    command = 'heat-hints-status'
    file = 'heat.conf'
    program = PROGRAM
    base = {
        ('DEFAULT', 'transport_url'): ('fake://',),
        ('DEFAULT', 'auth_encryption_key'): ('demo' * 8,),
        ('database', 'connection'): (f'mysql://heat:{MARK}@db/x',),
        ('heat_hints', 'enabled'): ('true',),
        ('heat_hints', 'signing_key'): (KEY,),
    }
    files = {
        **{f'{name}/x.py': text for name, text in MODULES.items()},
        **{f'{name}/x.yaml': text for name, text in ENVIRONMENTS.items()},
    }
    more = (
        *(
            {('DEFAULT', 'environment_dir'): (f'{{folder}}/{name}',)}
            for name in ENVIRONMENTS
        ),
        {ON_ERROR: ('fail',), ('heat_hints', 'providers'): ('nowhere',)},
        *({PLUGINS: (f'{{folder}}/{name}',)} for name in MODULES),
    )
    sleeper = {PLUGINS: ('{folder}/sleeps',)}

    def options(self):
        ((group, opts),) = conf.list_opts()
        heat_opts = [cfg.ListOpt('plugin_dirs'), cfg.StrOpt('environment_dir')]
        return {group.name: opts, 'DEFAULT': heat_opts}
