# SPDX-License-Identifier: Apache-2.0

"""Regions: whether their services answer; it needs no Senlin."""
