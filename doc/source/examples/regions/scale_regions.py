#!/usr/bin/env python3
"""Scale the stack of regions.yaml: scale_regions.py STACK +N|-N [REGION ...]
The REGIONs at the end get no servers, and keep the servers that they have.
"""

import json
import subprocess
import sys

#: NAME[:WEIGHT[:CAP]] of each region in regions.yaml.
REGIONS = ('RegionOne:2', 'RegionTwo:1:6')


def ask(*words):
    command = ['openstack', *words, '-f', 'json']
    return json.loads(subprocess.check_output(command))


def update(stack, sizes):
    command = ['openstack', 'stack', 'update', '--existing', '--wait', stack]
    command += ['--parameter', f'sizes={json.dumps(sizes)}']
    return subprocess.run(command, stdout=sys.stderr).returncode


stack, change, *kept = sys.argv[1:]
sizes = json.loads(ask('stack', 'show', stack)['parameters']['sizes'])
target = sum(sizes.values()) + int(change)
while missing := target - sum(sizes.values()):
    options = [f'--region={region}' for region in REGIONS]
    options += [f'--current={name}={n}' for name, n in sizes.items()]
    options += [f'--without={name}' for name in kept]
    plan = ask('cluster', 'region', 'plan', f'--count={missing:+d}', *options)
    planned = {row['Region']: row['Result'] for row in plan}
    if update(stack, planned):  # Take back what failed, and plan without it.
        rows = ask('stack', 'resource', 'list', stack)
        bad = [r for r in rows if r['resource_status'].endswith('FAILED')]
        kept += [row['resource_name'] for row in bad]
        planned |= {name: sizes[name] for name in kept}
        if not bad or update(stack, planned):
            sys.exit('The update failed. See: openstack stack show ' + stack)
    sizes = planned
