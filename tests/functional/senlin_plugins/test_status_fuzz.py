# SPDX-License-Identifier: Apache-2.0

"""``senlin-plugins-status`` and senlin-conductor, on random files."""

from oslo_config import cfg

from senlin_plugins import conf
from tests import status_fuzz
from tests.status_fuzz import MARK

#: The start of senlin-conductor up to its types, which senlin-engine loads in
#: the same way: it forks no worker.
PROGRAM = """
import types
from senlin.cmd import conductor
import senlin.conductor.service
from testing import starts
launcher = types.SimpleNamespace(wait=lambda: None)
conductor.service.launch = lambda *args, **kwargs: launcher
starts.serve(conductor.main)
"""

#: Files in ``environment_dir``, by the name of the folder.
ENVIRONMENTS = {
    'null': 'custom_profiles: {senlin_plugins.nova.server-1.0: null}',
    'number': 'custom_profiles: {senlin_plugins.nova.server-1.0: 3}',
    'nowhere': 'custom_profiles: {mine-1.0: nowhere.Class}',
    'list': 'custom_profiles: [senlin_plugins.nova.server-1.0]',
    'broken': '{',
}


class StatusFuzzTest(status_fuzz.FuzzCase):
    command = 'senlin-plugins-status'
    file = 'senlin.conf'
    program = PROGRAM
    base = {
        ('DEFAULT', 'transport_url'): ('fake://',),
        ('DEFAULT', 'default_region_name'): ('RegionOne',),
        ('database', 'connection'): (f'mysql://senlin:{MARK}@db/x',),
    }
    files = {f'{name}/x.yaml': text for name, text in ENVIRONMENTS.items()}
    more = tuple(
        {('DEFAULT', 'environment_dir'): (f'{{folder}}/{name}',)}
        for name in ENVIRONMENTS
    )

    def options(self):
        ((group, opts),) = conf.list_opts()
        names = ('default_region_name', 'environment_dir')
        return {group.name: opts, 'DEFAULT': [cfg.StrOpt(n) for n in names]}
