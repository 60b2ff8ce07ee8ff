"""An app for Apple's systems compiles none of the packages that only other systems need."""

from __future__ import annotations

import unittest
from pathlib import Path

from .. import dependencies

ROOT = Path(__file__).resolve().parents[3]
LINUX = {"platformNames": ["linux"]}


def target(name: str, *needs: dict) -> dict:
    return {"name": name, "dependencies": list(needs)}


class DependencyTests(unittest.TestCase):
    """Reads descriptions of packages."""

    def test_conditions_and_targets_under_it_are_followed(self) -> None:
        package = {
            "targets": [
                target("CounterfoilClient", {"byName": ["CounterfoilTokens", None]},
                       {"product": ["NIOCore", "swift-nio", None, LINUX]},
                       {"product": ["HTTPTypes", "swift-http-types", None, None]}),
                target("CounterfoilTokens", {"product": ["CryptoExtras", "swift-crypto", None, None]},
                       {"target": ["Linux", LINUX]}),
                target("Linux", {"product": ["Crypto", "swift-crypto", None, None]}),
            ]
        }
        self.assertEqual(
            dependencies.products(package, "CounterfoilClient", "Linux"),
            {"NIOCore", "HTTPTypes", "CryptoExtras", "Crypto"},
        )
        self.assertEqual(dependencies.unwanted(package, "iOS"), ["CryptoExtras"])

    def test_the_client_needs_two_small_packages(self) -> None:
        package = dependencies.description(ROOT)
        for system in ("macOS", "iOS"):
            self.assertEqual(dependencies.unwanted(package, system), [])
        self.assertIn("AsyncHTTPClient", dependencies.products(package, "CounterfoilClient", "linux"))


if __name__ == "__main__":
    unittest.main()
