"""An archive depends on the names and the content of its files only."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import tempfile
import unittest
from pathlib import Path

from .. import archive

TIME = 1_790_000_000


class ArchiveTests(unittest.TestCase):
    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)

    def filled(self, name: str, order: list[str], mode: int) -> Path:
        """A folder whose files were written in this order, with this mode."""
        root = self.folder / name
        for each in order:
            file = root / each
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(each, "utf-8")
            file.chmod(mode)
            os.utime(file, (mode, mode))
        archive.normalize(root)
        return root

    def test_order_time_and_umask_change_nothing(self) -> None:
        names = ["bin/program", "share/a", "share/b"]
        first = self.filled("first", names, 0o600)
        second = self.filled("second", names[::-1], 0o664)
        packed = [archive.compressed(archive.tar(each, TIME, prefix="p/")) for each in (first, second)]
        self.assertEqual(packed[0], packed[1])

    def test_files_belong_to_root_unless_a_path_has_another_owner(self) -> None:
        root = self.filled("root", ["data/file", "other"], 0o755)
        (root / "link").symlink_to("other")
        with tarfile.open(fileobj=io.BytesIO(archive.tar(root, TIME, owners={"data": 10001}))) as read:
            entries = {each.name: each for each in read}
        self.assertEqual(list(entries), sorted(entries))
        self.assertEqual({name: each.uid for name, each in entries.items()},
                         {"data": 10001, "data/file": 0, "link": 0, "other": 0})
        self.assertTrue(all(each.mtime == TIME and each.uname == "" for each in entries.values()))
        self.assertEqual(entries["link"].linkname, "other")

    def test_a_file_with_two_names_is_stored_twice(self) -> None:
        root = self.filled("root", ["a"], 0o644)
        os.link(root / "a", root / "b")
        with tarfile.open(fileobj=io.BytesIO(archive.tar(root, TIME))) as read:
            self.assertEqual([read.extractfile(each).read() for each in read], [b"a", b"a"])  # type: ignore[union-attr]

    def test_the_compressed_form_has_no_name_and_no_time(self) -> None:
        packed = archive.compressed(b"content")
        self.assertEqual(gzip.decompress(packed), b"content")
        self.assertEqual((packed[3], packed[4:8]), (0, b"\0\0\0\0"))

    def test_checksums_leave_out_their_own_file_and_folders(self) -> None:
        root = self.filled("root", ["b", "a", "SHA256SUMS", "folder/c"], 0o644)
        lines = archive.checksums(root).splitlines()
        self.assertEqual([line.split("  ")[1] for line in lines], ["a", "b"])
        self.assertTrue(lines[0].startswith("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"))
