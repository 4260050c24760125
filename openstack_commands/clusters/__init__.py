# SPDX-License-Identifier: Apache-2.0

"""Commands about clusters and their regions."""
