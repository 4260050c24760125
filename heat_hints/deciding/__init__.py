# SPDX-License-Identifier: Apache-2.0

"""Decide which hints a resource gets. The modules do not import Heat."""
