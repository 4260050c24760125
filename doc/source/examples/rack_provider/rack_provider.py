"""A provider that tells Nova the rack of each project."""

import json
import pathlib

from oslo_config import cfg

from heat_hints.providers import ProviderError

OPTS = [
    cfg.StrOpt(
        'file',
        default='/etc/heat/racks.json',
        help='A JSON file with the rack of each project, by its id.',
    ),
]


class RackProvider:
    """Sends the hint "rack"."""

    def __init__(self, conf):
        self._racks = read_racks(conf)

    @classmethod
    def check(cls, conf):
        read_racks(conf)

    def hints(self, request):
        rack = self._racks.get(request.project_id)
        return {'rack': rack}


def read_racks(conf):
    conf.register_opts(OPTS, 'rack_provider')
    path = pathlib.Path(conf.rack_provider.file)
    try:
        return dict(json.loads(path.read_text()))
    except (OSError, TypeError, ValueError) as exc:
        raise ProviderError(f'[rack_provider] file "{path}": {exc}') from exc
