import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Restores and first starts that are killed at random moments, and the server that starts afterwards, as after a
/// failure of the machine.
///
/// Each series has one run. With the variable `COUNTERFOIL_ALL_RUNS`, there are 25: 100 restores, and 100 runs of
/// `after-restore`.
@Suite(.timeLimit(.minutes(10)))
struct KilledRestoreTests {
    private static let runs = ProcessInfo.processInfo.environment["COUNTERFOIL_ALL_RUNS"] == nil ? 1 : 25

    /// The reasons for which a server may refuse to start.
    private static let reasons = [
        "is not complete; run restore again", "there are files of a server, and no counterfoil.db",
        "has the endings of a database, and there is none in", "a restore of this store was interrupted",
        "or of this one before a restore",
    ]

    /// The numbers of starts after a kill, by their outcome.
    private struct Outcomes: CustomStringConvertible {
        var served = 0
        var refused = 0
        /// The restores that were killed before they had changed anything.
        var notBegun = 0

        var description: String { "\(served) served, \(refused) refused, \(notBegun) not begun" }
    }

    // A new directory whose key is elsewhere is like one in which no server has run.
    @Test(arguments: [true, false], [true, false])
    func `after a restore that was killed, a server has the whole copy or does not start`(
        hasKeyFile: Bool, withJournal: Bool
    ) async throws {
        try await RestoredCopyTests.copied { copied async throws in
            let site = copied.site
            let (data, journal) = (site.dataDirectory, site.folder.path("journal"))
            let key = try Data(contentsOf: URL(fileURLWithPath: data + "/server.key"))
            let environment = hasKeyFile ? [:] : ["COUNTERFOIL_SERVER_KEY": Base64URL.encode(Array(key))]
            let answer = withJournal ? ["--endings-journal", journal] : ["--end-sign-ins"]
            func restore() throws -> RunningProgram {
                try RunningProgram(
                    .server, ["restore", copied.copy, "--data-dir", data] + answer, environment: environment,
                    in: site.folder)
            }
            func isServed() async throws -> Bool {
                try await self.isServed(
                    site, options: withJournal ? answer : [], environment: environment
                ) { try await Self.check(copied.kept, copied.revoked, of: copied.clientID, at: site, withJournal) }
            }
            var (chance, outcomes) = (SeededGenerator.ofThisRun(), Outcomes())
            var time = Duration.zero
            for run in 0...Self.runs {
                try? FileManager.default.removeItem(atPath: data)
                try FileManager.default.createDirectory(
                    atPath: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                if hasKeyFile { try key.write(to: URL(fileURLWithPath: data + "/server.key")) }
                if hasKeyFile { chmod(data + "/server.key", 0o600) }
                try? FileManager.default.removeItem(atPath: journal)
                try FileManager.default.copyItem(atPath: copied.journal, toPath: journal)
                // The first run is not killed, and takes the time in which the others are.
                guard run > 0 else {
                    time = try await Self.duration { () async throws in
                        #expect(try await restore().ended().status == 0)
                    }
                    continue
                }
                try await Self.kill(restore(), within: time, &chance)
                let names = try FileManager.default.contentsOfDirectory(atPath: data)
                if !hasKeyFile, !withJournal, !names.contains(where: { $0.hasPrefix("counterfoil.db") }) {
                    outcomes.notBegun += 1
                } else if try await isServed() {
                    outcomes.served += 1
                    continue
                } else {
                    outcomes.refused += 1
                    #expect(!FileManager.default.fileExists(atPath: data + "/counterfoil.db"))
                }
                let again = try await restore().ended()
                #expect(again.status == 0, "\(again.errors)")
                #expect(try await isServed())
            }
            print("restore, key file: \(hasKeyFile), journal: \(withJournal): \(outcomes)")
        }
    }

    @Test(arguments: StoreOfSite.allCases, [true, false])
    func `after an after-restore that was killed, nothing that had ended is valid`(
        kind: StoreOfSite, withJournal: Bool
    ) async throws {
        try await kind.make { site in
            let (clientID, journal) = (try await AfterRestoreTests.prepare(site), site.folder.path("endings"))
            let copied = try await AfterRestoreTests.copied(site, clientID, journal: journal, startingWithJournal: true)
            let (snapshot, kept, revoked) = (copied.snapshot, copied.kept, copied.revoked)
            let copy = site.folder.path("journal")
            func restore() throws -> RunningProgram {
                try RunningProgram(
                    .server,
                    ["after-restore"] + (withJournal ? ["--endings-journal", copy] : ["--end-sign-ins"])
                        + site.storeOptions, environment: site.storeEnvironment, in: site.folder)
            }
            func isServed(_ journal: String, keeping keeps: Bool) async throws -> Bool {
                try await self.isServed(site, options: ["--endings-journal", journal]) {
                    try await Self.check(kept, revoked, of: clientID, at: site, keeps)
                }
            }
            var (chance, outcomes) = (SeededGenerator.ofThisRun(), Outcomes())
            var time = Duration.zero
            for run in 0...Self.runs {
                try await snapshot.restore()
                try await snapshot.take()
                try? FileManager.default.removeItem(atPath: copy)
                try FileManager.default.copyItem(atPath: journal, toPath: copy)
                guard run > 0 else {
                    time = try await Self.duration { () async throws in
                        #expect(try await restore().ended().status == 0)
                    }
                    continue
                }
                try await Self.kill(restore(), within: time, &chance)
                // If it had not begun, the server ends again what its journal has. If it was to end every sign-in and
                // is complete, this is the journal of another store.
                if try await isServed(copy, keeping: true) {
                    outcomes.served += 1
                    continue
                }
                outcomes.refused += 1
                let again = try await restore().ended()
                #expect(again.status == 0, "\(again.errors)")
                let next = withJournal ? copy : site.folder.path("new-\(run)")
                #expect(try await isServed(next, keeping: withJournal))
            }
            print("after-restore, \(kind), journal: \(withJournal): \(outcomes)")
        }
    }

    @Test func `a first start that was killed can be repeated`() async throws {
        try await Site.make { site in
            let data = site.dataDirectory
            let time = try await Self.duration { try await site.serving {} }
            var chance = SeededGenerator.ofThisRun()
            for _ in 0..<(2 * Self.runs) {
                try FileManager.default.removeItem(atPath: data)
                let start = try RunningProgram(
                    .server,
                    ["serve", "--data-dir", data, "--issuer", site.issuer, "--listen", "127.0.0.1:\(site.port)"],
                    in: site.folder)
                try await Self.kill(start, within: time, &chance)
                try await site.serving {}
                let names = try FileManager.default.contentsOfDirectory(atPath: data)
                #expect(Set(names).isSuperset(of: ["server.key", "counterfoil.db"]), "\(names)")
                #expect(!names.contains("server.key.new"))
            }
        }
    }

    // MARK: - Parts

    private static func duration(of body: () async throws -> Void) async throws -> Duration {
        let start = ContinuousClock.now
        try await body()
        return start.duration(to: .now)
    }

    /// Kills a program at a random moment of the time that it takes.
    private static func kill(
        _ program: RunningProgram, within time: Duration, _ chance: inout SeededGenerator
    ) async throws {
        let limit = Int(1.1 * (time / .microseconds(1)))
        try await Task.sleep(for: .microseconds(Int.random(in: 0...limit, using: &chance)))
        try? program.signal("KILL")
        _ = try await program.ended()
    }

    /// Starts a server and runs `body`; returns false if it refuses to start.
    private func isServed(
        _ site: Site, options: [String], environment: [String: String] = [:], _ body: () async throws -> Void
    ) async throws -> Bool {
        let server: RunningProgram
        do { server = try await site.start(options: options, environment: environment) } catch {
            #expect(Self.reasons.contains { "\(error)".contains($0) }, "\(error)")
            return false
        }
        try await server.whileRunning(body)
        return true
    }

    /// Checks that a server has the user and the app, and that tokens are valid exactly if they may be.
    private static func check(
        _ kept: String, _ revoked: String, of clientID: String, at site: Site, _ withJournal: Bool
    ) async throws {
        #expect(try await RestoredCopyTests.refresh(revoked, of: clientID, at: site).status == 400)
        let answer = try await RestoredCopyTests.refresh(kept, of: clientID, at: site)
        #expect(answer.status == (withJournal ? 200 : 400), "\(answer.body)")
        var browser = UserAgent()
        _ = try await RestoredCopyTests.signIn(with: &browser, clientID, at: site)
    }
}
