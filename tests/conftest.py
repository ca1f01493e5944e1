"""Shared fixtures and the profiles of Hypothesis."""

import os

import hypothesis

hypothesis.settings.register_profile(
    "ci", max_examples=60, deadline=None, print_blob=True, derandomize=True
)
hypothesis.settings.register_profile("thorough", max_examples=1000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
