# SPDX-License-Identifier: Apache-2.0

"""What the policies decide: plain data in and out, without Senlin."""
