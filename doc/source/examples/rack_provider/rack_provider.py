"""A provider that sends the servers of a project to the project's rack."""

from oslo_config import cfg

from heat_hints.providers import ProviderError

OPTS = [
    cfg.DictOpt('racks', default={}, help='The rack of each project.'),
]


class RackProvider:
    """Sends the hint "rack"."""

    def __init__(self, conf):
        self.check(conf)
        self._racks = dict(conf.rack_provider.racks)

    @classmethod
    def check(cls, conf):
        conf.register_opts(OPTS, 'rack_provider')
        if not conf.rack_provider.racks:
            raise ProviderError('[rack_provider] racks is not set')

    def hints(self, request):
        rack = self._racks.get(request.project_id)
        if rack is None or request.resource_type != 'OS::Nova::Server':
            return {}
        return {'rack': rack}
