# SPDX-License-Identifier: Apache-2.0

"""Plug-ins for nova-scheduler: a host filter and three weighers.

Nova has no entry points for filters and weighers. Nova calls the two functions
below, which ``nova.conf`` names:

.. code-block:: ini

   [filter_scheduler]
   available_filters = nova.scheduler.filters.all_filters
   available_filters = nova_filters.all_filters
   weight_classes = nova.scheduler.weights.all_weighers,nova_filters.all_weighers

Importing this package does not import Nova. Each function imports the modules
of its classes.
"""  # noqa: E501


def all_filters() -> list[type]:
    """Return the host filters of this package.

    :returns: the classes; ``enabled_filters`` chooses among them by name.
    """
    from nova_filters.filters import aggregate_instance_type

    return [aggregate_instance_type.AggregateInstanceTypeFilter]


def all_weighers() -> list[type]:
    """Return the host weighers of this package.

    :returns: the classes; Nova uses all of them.
    """
    from nova_filters.weighers import affinity, preference

    return [
        preference.PreferenceWeigher,
        affinity.StackAffinityWeigher,
        affinity.ServerGroupWeigher,
    ]
