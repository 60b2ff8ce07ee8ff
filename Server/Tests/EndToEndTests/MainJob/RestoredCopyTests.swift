@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// A data directory that is copied while its server answers, lost, and restored.
@Suite(.timeLimit(.minutes(10)))
struct RestoredCopyTests {
    struct Tokens: Decodable {
        let access_token: String
        let refresh_token: String
    }

    /// A site that was copied, with tokens from before the copy.
    struct Copied {
        let site: Site
        let clientID: String
        let copy: String
        let journal: String
        /// A token that was refreshed after the copy.
        let kept: String
        /// A token that was revoked after the copy.
        let revoked: String
    }

    @Test func `a restore keeps what was acknowledged before the copy, and ends again what had ended`() async throws {
        try await Self.copied { copied async throws in
            let site = copied.site
            for (answer, isKept) in [(["--endings-journal", copied.journal], true), (["--end-sign-ins"], false)] {
                _ = try Self.prepareDirectory(of: site)
                let restored = try await site.server(
                    ["restore", copied.copy, "--data-dir", site.dataDirectory] + answer)
                #expect(restored.status == 0, "\(restored.errors)")
                #expect(restored.errors.contains(isKept ? "knows every ending until" : "Ended every sign-in."))
                #expect(restored.errors.contains("The restore is complete. \(isKept ? "Start" : "Move")"))
                let serve = ["serve", "--issuer", site.issuer, "--listen", "127.0.0.1:\(site.port)"]
                if !isKept {
                    // The command says that this journal is moved away.
                    let former = try await site.administer(serve + ["--endings-journal", copied.journal])
                    #expect(former.status == 3 && former.errors.contains("before a restore"), "\(former.errors)")
                }
                let journal = isKept ? ["--endings-journal", copied.journal] : []
                try await site.start(options: journal).whileRunning {
                    #expect(try await Self.refresh(copied.revoked, of: copied.clientID, at: site).status == 400)
                    // The token is two rotations ahead of the copy.
                    let kept = try await Self.refresh(copied.kept, of: copied.clientID, at: site)
                    #expect(kept.status == (isKept ? 200 : 400), "\(kept.body)")
                    var browser = UserAgent()
                    _ = try await Self.signIn(with: &browser, copied.clientID, at: site)
                }
                let log = try await site.administer(["audit", "--kind", "setting"])
                #expect(log.output.contains("restored from a copy of"))
            }
        }
    }

    @Test func `restore refuses without an answer, a key, or an empty directory, and changes nothing`() async throws {
        try await Self.copied { copied async throws in
            let site = copied.site
            let restore = ["restore", copied.copy, "--data-dir", site.dataDirectory]
            let silent = try await site.server(restore)
            #expect(silent.status == 64 && silent.errors.contains("What was revoked after the copy"))
            let full = try await site.server(restore + ["--end-sign-ins"])
            #expect(full.status == 3 && full.errors.contains("is not empty"))
            let elsewhere = site.folder.path("elsewhere")
            let keyless = try await site.server(["restore", copied.copy, "--data-dir", elsewhere, "--end-sign-ins"])
            #expect(keyless.status == 3 && keyless.errors.contains("the server key is missing"))

            try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
            try Data(RandomBytes().bytes(32)).write(to: URL(fileURLWithPath: elsewhere + "/server.key"))
            chmod(elsewhere + "/server.key", 0o600)
            let otherKey = try await site.server(["restore", copied.copy, "--data-dir", elsewhere, "--end-sign-ins"])
            #expect(otherKey.status == 3 && otherKey.errors.contains("is encrypted with another server key"))
            let left = try FileManager.default.contentsOfDirectory(atPath: elsewhere)
            #expect(left == ["server.key"])
        }
    }

    @Test func `a directory whose database is lost is restored as it is, and a database is never replaced`()
        async throws
    {
        try await Self.copied { copied async throws in
            let (site, data) = (copied.site, copied.site.dataDirectory)
            for name in try FileManager.default.contentsOfDirectory(atPath: data) where name.hasPrefix("counterfoil.db")
            {
                try FileManager.default.removeItem(atPath: data + "/" + name)
            }
            let left = Set(try FileManager.default.contentsOfDirectory(atPath: data))
            #expect(left == ["server.key", "server.lock", "last-settings.json", "last-backup"])
            // A process that is killed while it replaces a file leaves another one.
            for name in left { try Data().write(to: URL(fileURLWithPath: data + "/" + name + ".new")) }
            unlink(data + "/server.lock.new")
            func restore() async throws -> EndedProgram {
                try await site.server(["restore", copied.copy, "--data-dir", data, "--end-sign-ins"])
            }
            for name in ["counterfoil.db-wal", "counterfoil.db-journal", "counterfoil.db"] {
                let file = URL(fileURLWithPath: data + "/" + name)
                try Data("A commit.".utf8).write(to: file)
                let refused = try await restore()
                #expect(refused.status == 3 && refused.errors.contains("is not empty (\(name))"), "\(refused.errors)")
                #expect(try Data(contentsOf: file) == Data("A commit.".utf8))
                // A failure of the machine leaves empty files.
                try Data().write(to: file)
            }
            let restored = try await restore()
            #expect(restored.status == 0, "\(restored.errors)")
            try await site.serving {
                var browser = UserAgent()
                _ = try await Self.signIn(with: &browser, copied.clientID, at: site)
            }
        }
    }

    @Test func `no server begins with an empty database where a restore was interrupted`() async throws {
        try await Self.copied { copied async throws in
            let site = copied.site
            _ = try Self.prepareDirectory(of: site)
            // A process that is killed leaves the database under the name of an incomplete one.
            try Data(contentsOf: URL(fileURLWithPath: copied.copy)).write(
                to: URL(fileURLWithPath: site.dataDirectory + "/counterfoil.db.restoring"))
            let listen = "127.0.0.1:\(site.port)"
            for command in [["serve", "--issuer", site.issuer, "--listen", listen], ["scope", "list"]] {
                let ended = try await site.administer(command)
                #expect(ended.status == 3, "\(command)")
                #expect(!FileManager.default.fileExists(atPath: site.dataDirectory + "/counterfoil.db"))
                guard command[0] == "serve" else { continue }
                #expect(ended.errors.contains("is not complete; run restore again"), "\(ended.errors)")
            }
            let restored = try await site.server(
                ["restore", copied.copy, "--data-dir", site.dataDirectory, "--end-sign-ins"])
            #expect(restored.status == 0, "\(restored.errors)")
            try await site.serving {}
        }
    }

    @Test func `a file that is not a whole copy of this version is refused with its reason`() async throws {
        try await Self.copied { copied async throws in
            let site = copied.site
            let bytes = try Data(contentsOf: URL(fileURLWithPath: copied.copy))
            let bad = site.folder.path("bad.copy")
            func outcome() async throws -> EndedProgram {
                _ = try Self.prepareDirectory(of: site)
                let ended = try await site.server(
                    ["restore", bad, "--data-dir", site.dataDirectory, "--end-sign-ins"])
                #expect(!FileManager.default.fileExists(atPath: site.dataDirectory + "/counterfoil.db"))
                return ended
            }
            func refuse(_ content: Data, _ reason: String) async throws {
                try content.write(to: URL(fileURLWithPath: bad))
                let ended = try await outcome()
                #expect(ended.status == 3 && ended.errors.contains(reason), "\(reason): \(ended.errors)")
            }
            var chance = SeededGenerator.ofThisRun()
            try await refuse(bytes.dropLast(1), "its end is missing")
            try await refuse(bytes.prefix(bytes.count / 2), "its end is missing")
            try await refuse(bytes.prefix(90), "its end is missing")
            try await refuse(Data(), "it is empty")
            try await refuse(Data("A letter.".utf8), "it is not a copy")
            for _ in 0..<3 {
                var changed = bytes
                changed[Int.random(in: 100..<bytes.count - 4096, using: &chance)] ^=
                    1
                    << UInt8.random(
                        in: 0...7, using: &chance)
                try await refuse(changed, "its SHA-256 digest does not match")
            }
            var other = bytes.prefix(bytes.count / 4096 * 4096)
            other.replaceSubrange(68..<72, with: [1, 2, 3, 4])
            try await refuse(other, "it is a database of another program")
            try FileManager.default.removeItem(atPath: bad)
            try FileManager.default.createDirectory(atPath: bad, withIntermediateDirectories: true)
            let folder = try await outcome()
            #expect(folder.status == 3 && folder.errors.contains("it is a directory"))
        }
    }

    @Test func `a refused restore leaves nothing but the mark that a database is missing`() async throws {
        try await Self.copied { copied async throws in
            let site = copied.site
            let key = Base64URL.encode(Array(try Self.prepareDirectory(of: site)))
            let bad = site.folder.path("bad.copy")
            try Data("A letter.".utf8).write(to: URL(fileURLWithPath: bad))
            let (outer, empty) = (site.folder.path("outer"), site.folder.path("empty"))
            try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
            for directory in [outer + "/inner", empty] {
                let ended = try await RunningProgram(
                    .server, ["restore", bad, "--data-dir", directory, "--end-sign-ins"],
                    environment: ["COUNTERFOIL_SERVER_KEY": key], in: site.folder
                ).ended()
                #expect(ended.status == 3 && ended.errors.contains("nothing was changed"), "\(ended.errors)")
            }
            #expect(!FileManager.default.fileExists(atPath: outer))
            #expect(try FileManager.default.contentsOfDirectory(atPath: empty) == ["counterfoil.db.restoring"])
            let serve = ["serve", "--data-dir", empty, "--issuer", site.issuer, "--listen", "127.0.0.1:\(site.port)"]
            func start(_ options: [String]) async throws -> EndedProgram {
                try await RunningProgram(
                    .server, serve + options, environment: ["COUNTERFOIL_SERVER_KEY": key], in: site.folder
                ).ended()
            }
            let marked = try await start([])
            #expect(marked.status == 3 && marked.errors.contains("is not complete; run restore again"))
            // Without the mark, only the journal shows that the directory is not a new one.
            try FileManager.default.removeItem(atPath: empty + "/counterfoil.db.restoring")
            let unmarked = try await start(["--endings-journal", copied.journal])
            #expect(unmarked.status == 3)
            #expect(unmarked.errors.contains("has the endings of a database, and there is none in \(empty)"))
            #expect(!FileManager.default.fileExists(atPath: empty + "/counterfoil.db"))
        }
    }

    @Test func `a restore says what a journal can lack that was cut, and refuses an empty one and a directory`()
        async throws
    {
        try await Self.copied { copied async throws in
            let site = copied.site
            let journal = site.folder.path("shipped")
            func restore() async throws -> EndedProgram {
                _ = try Self.prepareDirectory(of: site)
                return try await site.server(
                    ["restore", copied.copy, "--data-dir", site.dataDirectory, "--endings-journal", journal])
            }
            let whole = try String(contentsOfFile: copied.journal, encoding: .utf8).split(separator: "\n")
            let last = try #require(whole.lastIndex { $0.contains("\"ended\":") })
            let cut = whole[...last].joined(separator: "\n").dropLast(30)
            try Data(cut.utf8).write(to: URL(fileURLWithPath: journal))
            let restored = try await restore()
            #expect(restored.status == 0, "\(restored.errors)")
            let notice = "The last line of \(journal) is cut off and was left out. In the server's own file, it was"
            #expect(restored.errors.contains(notice), "\(restored.errors)")
            #expect(restored.errors.contains("fetch the whole file, and start the restore over"))
            // The lost ending has this second.
            let second = try #require(whole[last].split(separator: "\"").dropFirst(3).first?.prefix(19))
            #expect(second.count == 19 && restored.errors.contains("The journal knows every ending until 20"))
            #expect(!restored.errors.contains("knows every ending until \(second)"), "\(restored.errors)")

            try Data().write(to: URL(fileURLWithPath: journal))
            let empty = try await restore()
            #expect(empty.status == 3 && empty.errors.contains("\(journal) is empty; if it is"), "\(empty.errors)")
            try FileManager.default.removeItem(atPath: journal)
            try FileManager.default.createDirectory(atPath: journal, withIntermediateDirectories: false)
            let folder = try await restore()
            #expect(folder.status == 3 && folder.errors.contains("\(journal) is a directory"), "\(folder.errors)")
        }
    }

    /// Runs a test with a site that was copied while its server ran, and has stopped.
    static func copied(_ test: (Copied) async throws -> Void) async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(options: ["--refresh-tokens", "always"])
            let (copy, journal) = (site.folder.path("counterfoil.copy"), site.folder.path("endings"))
            let server = try await site.start(options: ["--endings-journal", journal])
            let (kept, revoked) = try await server.whileRunning {
                var browser = UserAgent()
                var tokens = try await [
                    Self.signIn(with: &browser, clientID, at: site).refresh_token,
                    Self.signIn(with: &browser, clientID, at: site).refresh_token,
                ]
                let made = try await site.administer(["backup", "--output", copy])
                #expect(made.status == 0, "\(made.errors)")
                // A disk that fails right after the copy leaves a journal that knows as much as the copy.
                let journalOfCopy = site.folder.path("endings-of-the-copy")
                try FileManager.default.copyItem(atPath: journal, toPath: journalOfCopy)
                let elsewhere = site.folder.path("restored-at-once")
                try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
                try FileManager.default.copyItem(
                    atPath: site.dataDirectory + "/server.key", toPath: elsewhere + "/server.key")
                let atOnce = try await site.server(
                    ["restore", copy, "--data-dir", elsewhere, "--endings-journal", journalOfCopy])
                #expect(atOnce.status == 0, "\(atOnce.errors)")
                for _ in 1...2 {
                    let page = try await Self.refresh(tokens[0], of: clientID, at: site)
                    tokens[0] = try JSONDecoder().decode(Tokens.self, from: Data(page.body.utf8)).refresh_token
                }
                var agent = UserAgent()
                let revocation = try await agent.send(
                    .post, "\(site.issuer)/oauth2/revoke",
                    form: FormParameters(["client_id": clientID, "token": tokens[1]]))
                #expect(revocation.status == 200)
                #expect(try String(contentsOfFile: journal, encoding: .utf8).contains("\"ended\":\"grant\""))
                return (tokens[0], tokens[1])
            }
            try await test(
                Copied(
                    site: site, clientID: clientID, copy: copy, journal: journal, kept: kept, revoked: revoked))
        }
    }

    /// Replaces the data directory of a site by one that has only its server key.
    static func prepareDirectory(of site: Site) throws -> Data {
        let path = site.dataDirectory + "/server.key"
        let key = try Data(contentsOf: URL(fileURLWithPath: path))
        try FileManager.default.removeItem(atPath: site.dataDirectory)
        try FileManager.default.createDirectory(
            atPath: site.dataDirectory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try key.write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        return key
    }

    static func signIn(with browser: inout UserAgent, _ clientID: String, at site: Site) async throws -> Tokens {
        let request = ClientAuthorizationRequest(site, clientID)
        let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
        let answer = try await request.redeem(try page.code)
        #expect(answer.status == 200, "\(answer.body)")
        return try JSONDecoder().decode(Tokens.self, from: Data(answer.body.utf8))
    }

    static func refresh(_ token: String, of clientID: String, at site: Site) async throws -> WebPage {
        var agent = UserAgent()
        return try await agent.send(
            .post, "\(site.issuer)/oauth2/token",
            form: FormParameters(["grant_type": "refresh_token", "client_id": clientID, "refresh_token": token]))
    }
}
