"""A pytest fixture that holds a candidate against a baseline; copy it into your conftest.py."""
import perfh
import pytest


@pytest.fixture
def perf_ab():
    """perf_ab(f, g, *args, rule=...): fails when g is shown to miss the rule, skips when undecided."""
    def ask(baseline, candidate, *args, **options):
        verdict = perfh.ab(baseline, candidate, *args, **options)
        print(verdict)                                  # pytest -s, and with a failure
        if verdict.rejected:
            pytest.fail(verdict.text, pytrace=False)
        if not verdict:
            pytest.skip(verdict.text)
        return verdict
    return ask
