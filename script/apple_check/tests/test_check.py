"""What Apple's compiler would refuse is found on Linux."""

from __future__ import annotations

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from .. import check, systems

IOS = next(system for system in systems.ALL if system.name == "iOS")


@unittest.skipUnless(sys.platform == "linux" and shutil.which("swiftc"), "the check needs Swift for Linux")
class AppleCheckTests(unittest.TestCase):
    """Compiles one file at a time for iOS 16."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = Path(folder.name) / "root"
        cls.toolchain = check.prepared(IOS, "16.0", Path(folder.name) / "iOS")

    def findings(self, text: str) -> list[str]:
        place = self.root / "Sources" / "One" / "File.swift"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        found = check.of_module(self.root, check.Module("One", "Sources/One"), self.toolchain)
        return [f"{finding.path}:{finding.line}: {finding.text}" for finding in found]

    def test_conditions_are_those_of_apple(self) -> None:
        self.assertEqual(
            self.findings(
                """
                #if os(Linux) || canImport(Glibc) || canImport(FoundationEssentials) || !canImport(Darwin)
                    #error("Linux")
                #endif
                #if !os(iOS) || !canImport(Security) || canImport(AppKit)
                    #error("macOS")
                #endif
                """
            ),
            [],
        )

    def test_an_interface_of_a_later_version_needs_a_condition(self) -> None:
        call = 'ASWebAuthenticationSession.Callback.https(host: "a.example", path: "/")'
        text = "import AuthenticationServices\n@MainActor func f() {\n%s\n}\n"
        self.assertIn("is only available in iOS 17.4 or newer", self.findings(text % f"_ = {call}")[0])
        self.assertEqual(self.findings(text % f"if #available(iOS 17.4, *) {{ _ = {call} }}"), [])

    def test_the_standard_library_has_versions_too(self) -> None:
        found = self.findings("import Synchronization\nlet lock = Mutex(0)\n")
        self.assertIn("'Mutex' is only available in iOS 18.0 or newer", found[0])

    def test_isolation_is_checked(self) -> None:
        text = "import UIKit\n%s func f() -> Int { UIApplication.shared.connectedScenes.count }\n"
        self.assertIn("main actor-isolated", self.findings(text % "")[0].lower())
        self.assertEqual(self.findings(text % "@MainActor"), [])

    def test_functions_of_linux_are_missing(self) -> None:
        found = self.findings("import Darwin\nlet a = pipe2\nlet b = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)\n")
        self.assertIn("Sources/One/File.swift:2: error: cannot find 'pipe2' in scope", found)
        self.assertIn("Sources/One/File.swift:3: error: cannot find 'SOCK_CLOEXEC' in scope", found)

    def test_a_declaration_of_apple_has_its_type(self) -> None:
        text = "import Darwin\nfunc f() { var actions%s\nposix_spawn_file_actions_init(&actions) }\n"
        self.assertNotEqual(self.findings(text % " = posix_spawn_file_actions_t()"), [])
        self.assertEqual(self.findings(text % ": posix_spawn_file_actions_t?"), [])

    def test_values_that_are_not_initialized_are_found(self) -> None:
        self.assertIn("used before being initialized", self.findings("func f() -> Int { let a: Int; return a }\n")[0])


if __name__ == "__main__":
    unittest.main()
