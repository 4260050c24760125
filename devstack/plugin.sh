#!/bin/bash
#
# SPDX-License-Identifier: Apache-2.0

# DevStack plug-in: install the package and write the lines that enable it,
# after the services have been configured and before they start.

_PLACEMENT_PLUGINS_XTRACE=$(set +o | grep xtrace)
set +o xtrace

# What Nova enables when nova.conf says nothing.
_PLACEMENT_PLUGINS_FILTERS=ComputeFilter,ComputeCapabilitiesFilter
_PLACEMENT_PLUGINS_FILTERS+=,ImagePropertiesFilter
_PLACEMENT_PLUGINS_FILTERS+=,ServerGroupAntiAffinityFilter
_PLACEMENT_PLUGINS_FILTERS+=,ServerGroupAffinityFilter

function _placement_plugins_for {
    # Tell whether a part is wanted and its service is on this host.
    local wanted=$1 service=$2
    [[ "$wanted" == "True" ]] && is_service_enabled "$service"
}

function install_placement_plugins {
    setup_develop "$PLACEMENT_PLUGINS_DIR"
}

function configure_placement_plugins_nova {
    if [[ "$PLACEMENT_PLUGINS_FILTER" == "True" ]]; then
        _placement_plugins_filter
    fi
    if [[ "$PLACEMENT_PLUGINS_WEIGHERS" == "True" ]]; then
        _placement_plugins_weighers
    fi
}

function _placement_plugins_filter {
    local enabled
    enabled=$(iniget "$NOVA_CONF" filter_scheduler enabled_filters)
    enabled=${enabled:-$_PLACEMENT_PLUGINS_FILTERS}
    # The in-tree filter reads sentinels as plain text.
    enabled=$(tr ',' '\n' <<< "${enabled// /}" \
        | grep -vx -e AggregateInstanceExtraSpecsFilter \
            -e AggregateInstanceTypeFilter \
        | paste -sd ,)
    iniset_multiline "$NOVA_CONF" filter_scheduler available_filters \
        nova.scheduler.filters.all_filters nova_filters.all_filters
    iniset "$NOVA_CONF" filter_scheduler enabled_filters \
        "${enabled:+$enabled,}AggregateInstanceTypeFilter"
}

function _placement_plugins_weighers {
    iniset "$NOVA_CONF" filter_scheduler weight_classes \
        nova.scheduler.weights.all_weighers,nova_filters.all_weighers
    iniset "$NOVA_CONF" nova_filters server_group_weight_multiplier \
        "$PLACEMENT_PLUGINS_SERVER_GROUPS"
    iniset "$NOVA_CONF" nova_filters stack_affinity_weight_multiplier \
        "$PLACEMENT_PLUGINS_STACK_AFFINITY"
    _placement_plugins_sign "$NOVA_CONF"
}

function configure_placement_plugins_heat {
    iniset "$HEAT_CONF" heat_hints enabled true
    _placement_plugins_sign "$HEAT_CONF"
}

function configure_placement_plugins_senlin {
    iniset "$SENLIN_CONF" DEFAULT default_region_name "$REGION_NAME"
}

function _placement_plugins_sign {
    # Give both services the key, if there is one.
    local file=$1
    if [[ -n "$PLACEMENT_PLUGINS_SIGNING_KEY" ]]; then
        iniset "$file" heat_hints signing_key "$PLACEMENT_PLUGINS_SIGNING_KEY"
    fi
}

if [[ "$1" == "stack" && "$2" == "install" ]]; then
    echo_summary "Installing os-placement-plugins"
    install_placement_plugins

elif [[ "$1" == "stack" && "$2" == "post-config" ]]; then
    echo_summary "Configuring os-placement-plugins"
    if _placement_plugins_for "$PLACEMENT_PLUGINS_NOVA" n-sch; then
        configure_placement_plugins_nova
    fi
    if _placement_plugins_for "$PLACEMENT_PLUGINS_HEAT" h-eng; then
        configure_placement_plugins_heat
    fi
    if _placement_plugins_for "$PLACEMENT_PLUGINS_SENLIN" sl-eng; then
        configure_placement_plugins_senlin
    fi
fi

$_PLACEMENT_PLUGINS_XTRACE
