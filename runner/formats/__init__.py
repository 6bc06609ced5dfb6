"""Formats of others that a run can be written in. Pure: records and haystacks in, lines out; no model."""
