"""The list of components names what is linked into a program, and nothing else."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

from .. import components, dependencies
from ..source import Failed, Source

SOURCE = Source("0" * 40, 1_790_000_000, "0.1.0", True)
APACHE = "Apache License\nVersion 2.0, January 2004\n"


class ComponentTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        pins = []
        for name, module, licence in (("swift-nio", "NIOCore", APACHE), ("swift-extra", "Extra", "A licence.")):
            checkout = self.root / ".build/checkouts" / name
            (checkout / "Sources" / module).mkdir(parents=True)
            (checkout / "LICENSE.txt").write_text(licence, "utf-8")
            pins.append({"identity": name, "location": f"https://github.com/apple/{name}.git",
                         "state": {"version": "2.0.0", "revision": "abc"}})
        (self.root / ".build/checkouts/swift-nio/Sources/NIOCore/LICENSE").write_text("Of another project.", "utf-8")
        (self.root / "Package.resolved").write_text(json.dumps({"pins": pins}), "utf-8")
        self.list = self.root / "Objects.LinkFileList"
        self.list.write_text("/b/release/NIOCore.build/A.swift.o\n/b/release/counterfoil.build/B.swift.o\n", "utf-8")

    def linked(self) -> dict[dependencies.SwiftPackage, set[str]]:
        return dependencies.linked(dependencies.resolved(self.root), dependencies.linked_modules(self.list))

    def test_only_linked_packages_are_named(self) -> None:
        self.assertEqual([(package.identity, modules) for package, modules in self.linked().items()],
                         [("swift-nio", {"NIOCore"})])

    def test_without_the_list_of_the_linker_every_package_is_named(self) -> None:
        self.list.unlink()
        self.assertEqual([package.identity for package in self.linked()], ["swift-extra", "swift-nio"])

    def test_the_list_has_the_form_of_cyclonedx(self) -> None:
        library = dependencies.SystemLibrary("libz.so.1", Path("/lib/libz.so.1"), "zlib1g", "1:1.2+b1", "amd64", "debian-12")
        bill = json.loads(components.bill("counterfoil", SOURCE, "6.2", self.linked(), [library]))
        self.assertEqual((bill["bomFormat"], bill["specVersion"], bill["metadata"]["timestamp"]),
                         ("CycloneDX", "1.5", "2026-09-21T14:13:20Z"))
        purls = [component["purl"] for component in bill["components"]]
        self.assertEqual(purls, [
            "pkg:deb/debian/zlib1g@1%3A1.2%2Bb1?arch=amd64&distro=debian-12",
            "pkg:swift/github.com/apple/swift-nio@2.0.0",
            "pkg:swift/github.com/swiftlang/swift@6.2",
        ])
        self.assertEqual(bill["dependencies"][0]["dependsOn"], purls)
        self.assertEqual(bill["components"][1]["licenses"], [{"license": {"id": "Apache-2.0"}}])

    def test_the_licences_have_those_of_code_from_elsewhere(self) -> None:
        own = self.root / "LICENSE"
        own.write_text("Our licence.", "utf-8")
        text = components.licences("counterfoil", own, self.linked(), None, [])
        for part in ("Our licence.", "swift-nio 2.0.0: LICENSE.txt", "Version 2.0", "Of another project."):
            self.assertIn(part, text)
        self.assertNotIn("A licence.", text)

    def test_a_build_without_its_dependencies_is_refused(self) -> None:
        with self.assertRaisesRegex(Failed, "Package.resolved is missing"):
            dependencies.resolved(self.root / "elsewhere")

    def test_other_versions_for_the_client_are_found(self) -> None:
        for folder, versions in (("", {"one": "1.0.0", "two": "2.0.0"}),
                                 ("Server", {"one": "1.0.0", "two": "2.1.0", "three": "3.0.0"})):
            pins = [{"identity": name, "state": {"version": version}} for name, version in versions.items()]
            (self.root / folder).mkdir(exist_ok=True)
            (self.root / folder / "Package.resolved").write_text(json.dumps({"pins": pins}), "utf-8")
        self.assertEqual(dependencies.differing(self.root), ["two"])

    def test_known_licences(self) -> None:
        swift = APACHE + "Runtime Library Exception"
        mit = "Permission is hereby granted, free of charge, … PROVIDED “AS IS”, WITHOUT WARRANTY OF ANY KIND"
        self.assertEqual([dependencies.spdx(each) for each in (APACHE, swift, mit, "Another one.")],
                         ["Apache-2.0", "Apache-2.0 WITH Swift-exception", "MIT", None])
