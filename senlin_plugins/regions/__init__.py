# SPDX-License-Identifier: Apache-2.0

"""Check whether the services of regions answer, without importing Senlin."""
