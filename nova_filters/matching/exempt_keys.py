# SPDX-License-Identifier: Apache-2.0

"""Find mistakes in the patterns of ``exempt_metadata_keys``."""

from collections.abc import Iterable, Sequence
from typing import Final

from nova_filters.matching.inputs import SCOPE, exemption

#: Keys with nothing in common. A pattern that matches all of them matches
#: every key.
_UNALIKE: Final = ('os', 'gpu_model', 'hw:cpu_policy', 'X1')


def exempt_line(patterns: Iterable[str]) -> str:
    """Return the line for nova.conf with all patterns, without duplicates.

    The line must list the default patterns, too: it replaces the default.
    """
    return f'exempt_metadata_keys = {",".join(dict.fromkeys(patterns))}'


def problems(
    patterns: Sequence[str],
    defaults: Sequence[str],
    levels: Iterable[str],
    mechanisms: Sequence[str],
) -> list[str]:
    """Return one text for each mistake in the patterns, with the remedy.

    :param patterns: the value of ``exempt_metadata_keys``.
    :param defaults: the default patterns that must stay, if any.
    :param levels: the value of ``stack_spread_over``; empty if no weigher of
        this package is used.
    :param mechanisms: the names of the features that read the patterns.
    """
    sentences = []
    for pattern in patterns:
        problem = _pattern(pattern, mechanisms)
        if problem:
            sentences.append(problem)
    is_exempt = exemption(tuple(patterns))
    lost = [key for key in defaults if not is_exempt(key)]
    # An empty list is no mistake: aggregates then demand all keys, as the
    # specification "Aggregate Instance Type Filter" says.
    if lost and patterns:
        sentences.append(
            f'the list replaces the default, so {", ".join(lost)} are '
            'missing: a forced aggregate with such a key refuses every '
            'flavor that lacks it, hence nearly every flavor; to keep '
            f'them, write "{exempt_line([*defaults, *patterns])}"'
        )
    places = [key for key in levels if key != 'host' and not is_exempt(key)]
    if places:
        line = exempt_line(places)
        if patterns:
            line = exempt_line([*defaults, *patterns, *places])
        sentences.append(
            f'stack_spread_over has "{", ".join(places)}", which forced '
            'aggregates demand of every flavor; to prevent it, write '
            f'"{line}"'
        )
    return sentences


def _pattern(pattern: str, mechanisms: Sequence[str]) -> str | None:
    """Return what is wrong with a pattern; None if nothing is wrong."""
    if pattern.startswith(SCOPE):
        return (
            f'"{pattern}" matches nothing: write it without the scope '
            f'"{SCOPE}"'
        )
    if len(pattern.replace(';', ' ').split()) > 1:
        return f'"{pattern}" is one pattern: separate patterns by commas'
    is_exempt = exemption((pattern,))
    if all(map(is_exempt, _UNALIKE)):
        return (
            f'"{pattern}" matches every key, so no aggregate has an effect '
            f'through {" or ".join(mechanisms)}: name the keys that Nova '
            'itself reads'
        )
    if pattern.strip('\'"') != pattern:
        return (
            f'{pattern} has a quotation mark, which counts as a part of '
            'the key: remove it'
        )
    if pattern.count('[') != pattern.count(']'):
        return (
            f'"{pattern}" has a bracket without its pair, which stands '
            'for itself: write [abc] for one of a, b and c'
        )
    return None
