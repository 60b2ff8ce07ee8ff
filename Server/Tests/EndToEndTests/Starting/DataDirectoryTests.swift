import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

/// Unusable data directories, and the protection of their contents.
@Suite(.timeLimit(.minutes(10)))
struct DataDirectoryTests {
    @Test func `a file of the server in the data directory stays, whatever its name is`() async throws {
        try await Site.make { site in
            let journal = site.dataDirectory + "/endings-journal"
            var former = ""
            for _ in 0..<2 {
                let server = try await site.start(options: ["--endings-journal", journal])
                try await server.whileRunning {
                    let text = try String(contentsOfFile: journal, encoding: .utf8)
                    #expect(!text.isEmpty && text.hasPrefix(former))
                    former = text
                }
            }
        }
    }

    @Test func `a data directory that is a file is refused`() async throws {
        try await Site.make { site in
            try Data("mine".utf8).write(to: URL(fileURLWithPath: site.dataDirectory))
            let ended = try await site.startInVain()
            #expect(ended.status == 3)
            #expect(
                ended.errors == """
                    counterfoil-server: cannot create the data directory \(site.dataDirectory); choose another one with \
                    --data-dir, or grant this user write permission

                    """)
            #expect(try String(contentsOfFile: site.dataDirectory, encoding: .utf8) == "mine")
        }
    }

    @Test func `a data directory that cannot be written is refused`() async throws {
        try await Site.make { site in
            // Not even root can create anything there.
            let place = "/proc/counterfoil"
            let ended = try await site.server(
                ["serve", "--data-dir", place, "--issuer", site.issuer, "--listen", "127.0.0.1:0"])
            #expect(ended.status == 3)
            #expect(ended.errors.contains("cannot create the data directory \(place)"))
        }
    }

    @Test func `files that a server creates can be read by their owner only`() async throws {
        try await Site.make { site in
            try await site.serving {
                for (name, mode) in [
                    ("", 0o700), ("/server.key", 0o600), ("/counterfoil.db", 0o600), ("/server.lock", 0o600),
                ] {
                    let attributes = try FileManager.default.attributesOfItem(atPath: site.dataDirectory + name)
                    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(name)")
                }
            }
        }
    }

    @Test func `a second server on the same data directory is refused, and the first continues`() async throws {
        try await Site.make { site in
            try await site.serving {
                let ended = try await site.startInVain()
                #expect(ended.status == 6)
                #expect(
                    ended.errors == """
                        counterfoil-server: another server runs on \(site.dataDirectory); stop it first, or choose another \
                        directory with --data-dir

                        """)
                var agent = UserAgent()
                #expect(try await agent.open(site.issuer + "/readyz").status == 200)
            }
            // The lock is released when the server exits.
            try await site.serving {}
        }
    }

    @Test func `a command upgrades a database of an earlier version while no server runs`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try site.putEarlierVersion()
            let ended = try await site.administer(["user", "list"])
            #expect(ended.status == 0)
            #expect(ended.output == "")
            // The lock is free afterwards.
            try await site.serving {}
        }
    }

    // A running server of that version would no longer find its tables.
    @Test func `a database of an earlier version is not upgraded while a server uses it`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try site.changeDatabase { bytes in bytes.replaceSubrange(60..<64, with: [0, 0, 0, 0]) }
            let running = open(site.dataDirectory + "/server.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(running) }
            #expect(flock(running, LOCK_EX | LOCK_NB) == 0)
            let before = try site.contents()
            let ended = try await site.administer(["app", "list"])
            #expect(ended.status == 6)
            #expect(
                ended.errors == """
                    counterfoil-server: the data directory \(site.dataDirectory) is of an earlier version, and a server \
                    runs on it; if the server is of that version, stop it; otherwise try again after it has started

                    """)
            #expect(try site.contents() == before)
        }
    }

    @Test func `a database of a newer version is refused unchanged`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            // The schema version is a number in the file header (the database file format, §1.3).
            try site.changeDatabase { bytes in bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99]) }
            let before = try site.contents()
            for ended in [
                try await site.startInVain(), try await site.administer(["app", "list"]),
            ] {
                #expect(ended.status == 3)
                #expect(
                    ended.errors.contains("was written by a newer version (schema version 99; this version supports "))
                #expect(
                    ended.errors.hasSuffix("nothing was changed; use that version, or restore a backup of this one\n"))
            }
            #expect(try site.contents() == before)
        }
    }

    @Test func `a file that is not a database is refused unchanged`() async throws {
        try await Site.make { site in
            try FileManager.default.createDirectory(atPath: site.dataDirectory, withIntermediateDirectories: true)
            try Data("A letter, not a database.".utf8).write(to: URL(fileURLWithPath: site.database))
            let ended = try await site.startInVain()
            #expect(ended.status == 3)
            #expect(
                ended.errors == """
                    counterfoil-server: \(site.database) is not a database; check the path, or restore the file from a backup

                    """)
            #expect(try String(contentsOfFile: site.database, encoding: .utf8) == "A letter, not a database.")
        }
    }

    @Test func `a database of another program is refused unchanged`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try site.changeDatabase { bytes in bytes.replaceSubrange(68..<72, with: [1, 2, 3, 4]) }
            let before = try site.contents()
            let ended = try await site.startInVain()
            #expect(ended.status == 3)
            #expect(
                ended.errors == """
                    counterfoil-server: \(site.database) is a database of another program; choose another path

                    """)
            #expect(try site.contents() == before)
        }
    }

    @Test func `a server key that other users can read is refused`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: site.serverKey)
            let ended = try await site.startInVain()
            #expect(ended.status == 3)
            #expect(
                ended.errors == """
                    counterfoil-server: other users can access the server key \(site.serverKey); run: chmod 600 \
                    \(site.serverKey)

                    """)
        }
    }

    @Test func `a server key of another directory is refused, and the right one works again`() async throws {
        try await Site.make { site in
            try await site.serving {}
            let right = try Data(contentsOf: URL(fileURLWithPath: site.serverKey))
            try site.writeServerKey(Data(repeating: 7, count: 32))
            let other = try await site.startInVain()
            #expect(other.status == 3)
            let sentence =
                "is encrypted with another server key; restore the server.key (or COUNTERFOIL_SERVER_KEY) that belongs "
                + "to this database\n"
            #expect(other.errors.hasSuffix(sentence))
            try site.writeServerKey(right.prefix(31))
            let cut = try await site.startInVain()
            #expect(cut.status == 3)
            #expect(
                cut.errors == """
                    counterfoil-server: the server key \(site.serverKey) is not 32 bytes (former keys can follow it, \
                    32 bytes each); restore it from a backup

                    """)
            try site.writeServerKey(right)
            try await site.serving {}
        }
    }

    @Test func `a lost server key is reported and not replaced`() async throws {
        try await Site.make { site in
            try await site.serving {}
            try FileManager.default.removeItem(atPath: site.serverKey)
            let ended = try await site.startInVain()
            #expect(ended.status == 3)
            #expect(
                ended.errors == """
                    counterfoil-server: the server key \(site.serverKey) is missing, and the database is useless without \
                    it; restore it from a backup

                    """)
            #expect(!FileManager.default.fileExists(atPath: site.serverKey))
        }
    }
}

/// Data directories that have lost their database, and those whose first start was interrupted.
@Suite(.timeLimit(.minutes(10)))
struct LostDatabaseTests {
    @Test(arguments: ["server.key", "last-settings.json"])
    func `no server and no command begins with an empty database where one was lost`(left: String) async throws {
        try await Site.make { site in
            try await site.serving {}
            let kept = site.folder.path("kept")
            try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: false)
            for name in try site.contents().keys where name != left {
                try FileManager.default.moveItem(atPath: site.dataDirectory + "/" + name, toPath: kept + "/" + name)
            }
            for hasEmptyFile in [false, true] {
                // A file system can leave an empty file after a failure of the machine.
                if hasEmptyFile { try Data().write(to: URL(fileURLWithPath: site.database)) }
                let before = try site.contents()
                for ended in [
                    try await site.startInVain(),
                    try await site.administer(["scope", "create", "a", "--description", "b"]),
                    try await site.administer(["scope", "list"]),
                    try await site.administer(["backup", "--output", site.folder.path("copy")]),
                    try await site.administer(["after-restore", "--end-sign-ins"]),
                ] {
                    #expect(ended.status == 3)
                    #expect(
                        ended.errors == """
                            counterfoil-server: the database of \(site.dataDirectory) is lost: there are files of a server, \
                            and no counterfoil.db; put it back, or restore a copy with restore; for a new server, name \
                            another directory or empty this one

                            """)
                }
                #expect(try site.contents() == before)
                let examined = try await site.administer(["doctor"])
                #expect(examined.status == 1)
                #expect(examined.output.contains("FAULT  the database of \(site.dataDirectory) is lost"))
                #expect(examined.output.contains("→ put it back, or restore a copy with restore"))
            }
            try FileManager.default.removeItem(atPath: site.database)
            for name in try FileManager.default.contentsOfDirectory(atPath: kept) {
                try FileManager.default.moveItem(atPath: kept + "/" + name, toPath: site.dataDirectory + "/" + name)
            }
            try await site.serving {}
        }
    }

    @Test func `a key that an interrupted start has left is not taken for another database`() async throws {
        try await Site.make { site in
            try await site.serving {}
            let (key, draft) = (try Data(contentsOf: URL(fileURLWithPath: site.serverKey)), site.serverKey + ".new")
            for other in [Data(repeating: 7, count: 32), Data("A letter.".utf8)] {
                try FileManager.default.removeItem(atPath: site.serverKey)
                try other.write(to: URL(fileURLWithPath: draft))
                chmod(draft, 0o600)
                for ended in [try await site.startInVain(), try await site.administer(["scope", "list"])] {
                    #expect(ended.status == 3)
                    #expect(
                        ended.errors == """
                            counterfoil-server: the server key \(site.serverKey) is missing, and \(draft) is not the key of \
                            the database; restore server.key from a backup, and delete the other file

                            """)
                    #expect(!FileManager.default.fileExists(atPath: site.serverKey))
                }
                // Beside the right key it stays: an operator who replaces the key may be writing it.
                try site.writeServerKey(key)
                try await site.serving {}
                #expect(try Data(contentsOf: URL(fileURLWithPath: draft)) == other)
            }
            // The key of this database has only lost its name.
            try FileManager.default.removeItem(atPath: draft)
            try FileManager.default.moveItem(atPath: site.serverKey, toPath: draft)
            try await site.serving {}
            #expect(try Data(contentsOf: URL(fileURLWithPath: site.serverKey)) == key)

            let new = site.folder.path("new")
            try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: false)
            try Data("A letter.".utf8).write(to: URL(fileURLWithPath: new + "/server.key.new"))
            chmod(new + "/server.key.new", 0o600)
            let refused = try await site.server(["scope", "create", "a", "--description", "b", "--data-dir", new])
            #expect(refused.status == 3 && refused.errors.contains("is not a server key; delete it"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: new) == ["server.key.new"])
        }
    }

    // A start that is interrupted before its database is complete has lost nothing.
    @Test func `a first start that was interrupted is repeated with the same key`() async throws {
        try await Site.make { site in
            try await site.serving {}
            let key = try Data(contentsOf: URL(fileURLWithPath: site.serverKey))
            let draft = site.serverKey + ".new"
            try FileManager.default.moveItem(atPath: site.serverKey, toPath: draft)
            for hasEmptyFile in [nil, false, true] {
                if let hasEmptyFile {
                    try FileManager.default.removeItem(atPath: site.dataDirectory)
                    try FileManager.default.createDirectory(
                        atPath: site.dataDirectory, withIntermediateDirectories: true,
                        attributes: [.posixPermissions: 0o700])
                    try key.write(to: URL(fileURLWithPath: draft))
                    chmod(draft, 0o600)
                    if hasEmptyFile { try Data().write(to: URL(fileURLWithPath: site.database)) }
                }
                try await site.serving {}
                #expect(try Data(contentsOf: URL(fileURLWithPath: site.serverKey)) == key)
                #expect(!FileManager.default.fileExists(atPath: draft))
            }
        }
    }
}

extension Site {
    fileprivate var database: String { dataDirectory + "/counterfoil.db" }
    fileprivate var serverKey: String { dataDirectory + "/server.key" }

    /// Starts a server that is expected to exit.
    fileprivate func startInVain() async throws -> EndedProgram {
        try await administer(["serve", "--issuer", issuer, "--listen", "127.0.0.1:0"])
    }

    fileprivate func changeDatabase(_ change: (inout Data) -> Void) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: database))
        change(&bytes)
        try bytes.write(to: URL(fileURLWithPath: database))
    }

    /// Replaces the database with one to which no migration has been applied.
    fileprivate func putEarlierVersion() throws {
        try FileManager.default.removeItem(atPath: database)
        let earlier = try DatabaseQueue(path: database)
        try earlier.writeWithoutTransaction { (database: Database) throws in
            try database.execute(sql: "PRAGMA application_id = \(SQLiteStore.applicationID)")
        }
        try earlier.close()
    }

    fileprivate func writeServerKey(_ bytes: Data) throws {
        try bytes.write(to: URL(fileURLWithPath: serverKey))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: serverKey)
    }

    /// Returns every file in the data directory, except the lock file that a starting server creates.
    fileprivate func contents() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: dataDirectory).filter { $0 != "server.lock" }
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, try Data(contentsOf: URL(fileURLWithPath: dataDirectory + "/" + name)))
            })
    }
}
