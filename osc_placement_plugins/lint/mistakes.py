# SPDX-License-Identifier: Apache-2.0

"""All mistakes in the flavors and aggregates of a cloud."""

from collections.abc import Collection

from osc_placement_plugins.inventory import Inventory
from osc_placement_plugins.lint import aggregate_mistakes
from osc_placement_plugins.lint.findings import SEVERITIES, Finding
from osc_placement_plugins.lint.flavor_mistakes import FlavorMistakes
from osc_placement_plugins.source.records import Flavor


def find_mistakes(
    flavors: Collection[Flavor], inventory: Inventory
) -> list[Finding]:
    """Look for mistakes in flavors and aggregates.

    :returns: the findings; the worst first, then by object and key.
    """
    findings: list[Finding] = []
    flavor_mistakes = FlavorMistakes(inventory)
    for flavor in flavors:
        for finding in flavor_mistakes.find(flavor):
            findings.append(finding._replace(owner='flavor', name=flavor.name))
    for aggregate in inventory.aggregates:
        for finding in aggregate_mistakes.find_in_metadata(
            aggregate, inventory.exempt
        ):
            findings.append(
                finding._replace(owner='aggregate', name=aggregate.name)
            )
    findings += aggregate_mistakes.find_closed(flavors, inventory)
    findings += aggregate_mistakes.find_contradictory(inventory)
    return sorted(
        dict.fromkeys(findings),
        key=lambda finding: (
            SEVERITIES.index(finding.severity),
            finding.owner,
            finding.name,
            finding.key,
            finding.code,
        ),
    )
