import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import CounterfoilWeb
import Foundation
import HTTPListener
import TestSupport
import Testing

@testable import counterfoil_server

/// The judgements of `counterfoil-server doctor`, with facts in place of the state of a machine.
struct DoctorJudgementTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let day: TimeInterval = 86_400

    /// Returns the topics of the findings that are no sound states, with their weights.
    private static func topics(_ judge: (inout ServerFindings) throws -> Void) rethrows -> [String] {
        var findings = ServerFindings()
        try judge(&findings)
        for finding in findings.all { #expect((finding.mend == nil) == (finding.weight == .sound)) }
        return findings.all.filter { $0.weight != .sound }.map { "\($0.weight) \($0.topic)" }
    }

    private static func file(_ path: String, mode: Int = 0o600, owner: Int = 990) -> FileState {
        FileState(path: path, mode: mode, owner: owner, bytes: 0, modified: now)
    }

    @Test func `a page of the owner whose clock is wrong is a fault`() {
        let cases: [(Double?, [String])] = [(nil, []), (5, []), (-3600, ["fault sign-in-page-clock"])]
        for (difference, expected) in cases {
            #expect(Self.topics { $0.judgeSignInPage("https://shop.example.com", differingBy: difference) } == expected)
        }
    }

    @Test func `half a SQLite database that is free is a note from a gibibyte on`() {
        let gibibyte = 1 << 30
        for (free, size, expected) in [
            (0, 4096, []), (gibibyte, 3 * gibibyte, []), (gibibyte / 2, gibibyte, []),
            (gibibyte, 2 * gibibyte, ["advice store-space"]),
        ] {
            #expect(Self.topics { $0.judgeSpace(StoreSpace(database: size, free: free)) } == expected)
        }
    }

    @Test func `different settings of servers are faults, and server keys in excess or missing are notes`() {
        let servers = ["1h", "5m"].map {
            ServerOnDatabase(host: $0, process: 7, settings: ["code-lifetime": "1m", "access-token-lifetime": $0])
        }
        #expect(Self.topics { $0.judgeServers(servers) } == ["fault settings-differ"])
        #expect(Self.topics { $0.judgeServers([servers[0], servers[0]]) } == [])
        func key(_ state: ServerKeyState.State, _ needs: [ServerKeyNeed]) -> ServerKeyState {
            ServerKeyState(fingerprint: "0a1b2c3d", state: state, firstUntil: Self.now, needs: needs)
        }
        let tokens = ServerKeyNeed(kind: .refreshTokens, count: 1, until: Self.now)
        let judged = Self.topics {
            $0.judgeServerKeys([
                key(.current, []), key(.former, [tokens]), key(.former, []), key(.next, []), key(.missing, [tokens]),
            ])
        }
        #expect(judged == ["advice server-key-unneeded", "advice server-key-missing"])
    }

    @Test func `a nearly full disk is a fault, and one with little space a note`() {
        func judged(_ free: Int?, database: Int = 1 << 20) -> [String] {
            Self.topics { $0.judgeDisk(free: free, database: database, log: 0) }
        }
        #expect(judged(1 << 30) == [])
        #expect(judged(nil) == [])
        #expect(judged(100 << 20) == ["advice disk-space"])
        // An upgrade copies the database.
        #expect(judged(1 << 30, database: 2 << 30) == ["advice disk-space"])
        #expect(judged(63 << 20) == ["fault disk-full"])
    }

    @Test func `the size of the write-ahead log is apart from that of the database`() {
        var findings = ServerFindings()
        findings.judgeDisk(free: 8 << 30, database: 3 << 20, log: 129 << 20)
        #expect(findings.all.map(\.topic) == ["log-large", "disk"])
        #expect(findings.all.last?.text == "8.0 GiB are free; the database has 3 MiB, its write-ahead log 129 MiB")
    }

    @Test func `open files are judged by the limit, and the limit by the setting of the connections`() {
        func judged(used: Int?, limit: Int, connections: Int?) -> [String] {
            Self.topics {
                $0.judge(DescriptorUse(process: 7, used: used, limit: limit, connections: connections))
            }
        }
        let reserved = ConnectionLimits.reservedDescriptors
        #expect(judged(used: 20, limit: 500 + reserved, connections: 500) == [])
        #expect(judged(used: 20, limit: 499 + reserved, connections: 500) == ["advice descriptors-few"])
        #expect(judged(used: nil, limit: 500 + reserved, connections: nil) == ["advice descriptors-few"])
        #expect(judged(used: nil, limit: 10_000 + reserved, connections: nil) == [])
        #expect(judged(used: 901, limit: 1000, connections: 16) == ["fault descriptors-used"])
    }

    @Test func `a file of another user in the data directory is a fault`() {
        let directory = Self.file("/data", mode: 0o700)
        #expect(Self.topics { $0.judgePermissions(of: [Self.file("/data/a")], in: directory) } == [])
        #expect(
            Self.topics { $0.judgePermissions(of: [Self.file("/data/a", owner: 0)], in: directory) }
                == ["fault files-of-another-user"])
    }

    @Test(arguments: [
        (RecordedSettings.File.settings, 0o644, []), (.settings, 0o664, ["fault files-writable"]),
        (.externalSignInKeys, 0o644, []), (.externalSignInKeys, 0o664, ["fault files-writable"]),
        (.tlsKey, 0o640, []), (.tlsKey, 0o644, ["fault secrets-readable"]),
        (.externalAccountKey, 0o604, ["fault secrets-readable"]),
        (.mailCredentials, 0o640, []), (.mailCredentials, 0o644, ["fault secrets-readable"]),
        (.serverKey, 0o600, []), (.serverKey, 0o640, ["fault secrets-readable"]),
        (.endingsJournal, 0o640, ["fault secrets-readable"]),
        (.endingsJournal, 0o622, ["fault files-writable"]),
    ])
    func `each file that the settings name has its own limit of permissions`(
        file: RecordedSettings.File, mode: Int, expected: [String]
    ) {
        #expect(Self.topics { $0.judgePermissions(of: [(file, Self.file("/file", mode: mode))]) } == expected)
    }

    @Test(arguments: [
        (nil, true, "systemctl start counterfoil-backup"), (nil, false, "run counterfoil-server backup each night"),
        (3.0, true, "journalctl --unit counterfoil-backup"), (3.0, false, "check the timer or the job"),
    ])
    func `the remedy of a missing or old backup is that of the timer, if one is enabled`(
        days: Double?, isTimed: Bool, remedy: String
    ) {
        var findings = ServerFindings()
        findings.judgeBackup(at: days.map { Self.now - $0 * Self.day }, isTimed: isTimed, now: Self.now)
        #expect(findings.all.map(\.weight) == [days == nil ? .advice : .fault])
        #expect(findings.all.first?.mend?.contains(remedy) == true)
        // Another program that makes the copies can say so.
        #expect(findings.all.first?.mend?.contains("touch last-backup") == !isTimed)
    }

    @Test func `a backup is old from the age at which the alert fires`() throws {
        let rules = try Repository.text("Server/Monitoring/alerts.yaml")
        let rule = try #require(rules.components(separatedBy: "- alert: CounterfoilBackupOld\n").last)
        let expression = try #require(rule.firstMatch(of: /> (\d+) \* (\d+)/))
        let age = try #require(Double(expression.1)) * (try #require(Double(expression.2)))
        func judged(_ age: TimeInterval) -> [String] {
            Self.topics { $0.judgeBackup(at: Self.now - age, isTimed: false, now: Self.now) }
        }
        #expect(judged(age) == [])
        #expect(judged(age + 1) == ["fault backup-old"])
    }

    @Test func `a change of the issuer is a fault for a week`() throws {
        func recorded(_ issuer: String) throws -> RecordedSettings {
            RecordedSettings(ServerSettings(issuer: try Issuer(issuer)), connections: 1, files: [:])
        }
        let (before, settings) = (try recorded("https://a.example.com"), try recorded("https://b.example.com"))
        let changed = settings.following(before, at: Self.now)
        func judged(_ recorded: RecordedSettings, _ days: Double) -> [String] {
            Self.topics { $0.judgeIssuer(of: recorded, now: Self.now + days * Self.day) }
        }
        #expect(judged(before, 0) == [])
        #expect(judged(changed, 7) == ["fault issuer-changed"])
        #expect(judged(settings.following(changed, at: Self.now + Self.day), 7) == ["fault issuer-changed"])
        #expect(judged(changed, 7.1) == [])
        #expect(judged(before.following(changed, at: Self.now), 0) == [])
    }

    @Test func `a fault from an error message has the remedy of the message`() {
        var findings = ServerFindings()
        findings.fault("a", saying: "it failed; do this; or that", orElse: "look")
        findings.fault("b", saying: "it failed", orElse: "look")
        #expect(findings.all.map(\.text) == ["it failed", "it failed"])
        #expect(findings.all.map(\.mend) == ["do this; or that", "look"])
    }

    @Test func `the files in the settings of another machine are not judged here`() throws {
        let settings = ServerSettings(issuer: try Issuer("https://id.example.com"))
        let directory = try TemporaryDirectory()
        let key = directory.path("key.pem")
        try Data().write(to: URL(fileURLWithPath: key))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        let recorded = RecordedSettings(settings, connections: 10, files: [.tlsKey: key], host: "db2")
        #expect(RecordedSettings { recorded.named[$0] }.host == "db2")
        #expect(
            Self.topics { $0.checkFiles(namedIn: recorded, onHost: nil, serverKeyFile: nil) }
                == ["fault secrets-readable"])
        var findings = ServerFindings()
        findings.checkFiles(namedIn: recorded, onHost: recorded.host, serverKeyFile: nil)
        #expect(findings.all.map(\.topic) == ["settings-of-another-host"])
        #expect(findings.all.first?.text.contains("the server on db2") == true)
    }

    @Test func `signing keys that the server has not rotated in time are a note`() {
        func judged(_ ages: [Double]) -> [String] {
            Self.topics { findings in
                findings.judgeKeys(signingSince: ages.map { Self.now - $0 * Self.day }, now: Self.now)
            }
        }
        #expect(judged([97, 3]) == [])
        #expect(judged([98, 3]) == ["advice keys-old"])
        #expect(judged([]) == ["advice keys-missing"])
    }

    @Test func `notifications that wait for an hour are a note`() {
        func judged(_ age: TimeInterval?) -> [String] {
            Self.topics { $0.judgeNotices(3, oldest: age.map { Self.now - $0 }, now: Self.now) }
        }
        #expect(judged(nil) == [])
        #expect(judged(3600) == [])
        #expect(judged(3601) == ["advice notices-waiting"])
    }

    @Test func `a webhook that is disabled or fails for a day is a note`() {
        func judged(_ states: [Webhook.State: Int], _ age: TimeInterval?) -> [String] {
            let progress = WebhookProgress(
                states: states, oldest: nil, oldestHeld: nil, failingSince: age.map { Self.now - $0 })
            return Self.topics { $0.judgeWebhooks(progress, now: Self.now) }
        }
        #expect(judged([.active: 2, .paused: 1], nil) == [])
        #expect(judged([.active: 2], 86_400) == [])
        #expect(judged([.active: 2], 86_401) == ["advice webhooks-failing"])
        #expect(judged([.gone: 1, .failing: 1], nil) == ["advice webhooks-disabled"])
    }

    @Test func `an audit log that no server seals is a note`() {
        func judged(_ age: TimeInterval?) -> [String] {
            Self.topics { $0.judgeSeals(unsealedSince: age.map { Self.now - $0 }, now: Self.now) }
        }
        #expect(judged(nil) == [])
        #expect(judged(900) == [])
        #expect(judged(901) == ["advice seals-late"])
    }

    @Test func `an endings journal that is missing, not writable, foreign or behind is a fault`() {
        func judged(_ state: JournalState) -> [String] {
            Self.topics { $0.judgeJournal(state, at: "/journal/endings", now: Self.now) }
        }
        func lacking(_ age: TimeInterval) -> JournalState { .compared(.lacks(3, since: Self.now - age)) }
        let obstacle = EndingsOptions.Obstacle(path: "/journal", error: ENOENT)
        #expect(judged(.compared(.complete)) == [])
        // The server appends within a minute what others end.
        #expect(judged(lacking(900)) == [])
        #expect(judged(lacking(901)) == ["fault endings-journal-behind"])
        #expect(judged(.missing(obstacle: nil)) == ["fault endings-journal-missing"])
        #expect(judged(.missing(obstacle: obstacle)) == ["fault endings-journal-missing"])
        #expect(judged(.unwritable(obstacle)) == ["fault endings-journal-unwritable"])
        #expect(judged(.unusable(.ofAnotherStore(path: "/journal/endings"))) == ["fault endings-journal-unusable"])
        #expect(judged(.unusable(.aheadOfStore(path: "/journal/endings"))) == ["fault endings-journal-ahead"])
    }

    #if os(Linux)
        @Test func `a lock on a file with the same number on another device is not that of the server`() throws {
            let directory = try TemporaryDirectory()
            let path = directory.path("server.lock")
            let lock = try ServingLock(path: path, orRefuse: "locked")
            try withExtendedLifetime(lock) {
                #expect(ProcessOfLock(ofFileAt: path)?.identifier == Int(getpid()))
                let file = try #require(LockedFile(at: path))
                let device = try #require(file.device)
                func holder(ofLockAt major: Int, _ minor: Int, _ inode: UInt64) -> Int? {
                    let place = "\(String(major, radix: 16)):\(String(minor, radix: 16)):\(inode)"
                    let table = "1: POSIX ADVISORY WRITE 5 \(place) 0 EOF\n2: FLOCK  ADVISORY  WRITE 7 \(place) 0 EOF\n"
                    return ProcessOfLock(of: file, in: table)?.identifier
                }
                #expect(holder(ofLockAt: device.major, device.minor, file.inode) == 7)
                #expect(holder(ofLockAt: device.major, device.minor + 1, file.inode) == nil)
                #expect(holder(ofLockAt: device.major + 1, device.minor, file.inode) == nil)
                #expect(holder(ofLockAt: device.major, device.minor, file.inode + 1) == nil)
            }
        }
    #endif

    // MARK: - The issuer

    private static let members: [String: JSONValue] = [
        "issuer": .string("https://id.example.com"), "scopes_supported": .array([.string("openid")]),
        "require_pushed_authorization_requests": .boolean(false),
    ]
    private static let document = Array(
        #"""
        {"issuer": "https://id.example.com", "scopes_supported": ["openid"],
         "require_pushed_authorization_requests": false}
        """#.utf8)

    private static func judged(
        issuer: String = "https://id.example.com", keys: Set<String> = ["a"], foreign: String? = nil,
        members: [String: JSONValue] = members, clock: TimeInterval = 0, expected: [UInt8]? = document
    ) throws -> ServerFindings {
        var findings = ServerFindings()
        findings.judge(
            .init(issuer: issuer, keys: keys, foreignEndpoint: foreign, members: members, date: now + clock),
            of: try Issuer("https://id.example.com"), keys: ["a", "b"], metadata: expected, now: now)
        return findings
    }

    private static func problems(_ findings: ServerFindings) -> [String] {
        findings.all.filter { $0.weight != .sound }.map { "\($0.weight) \($0.topic)" }
    }

    @Test func `another server at the issuer, foreign endpoints and a wrong clock are faults`() throws {
        #expect(Self.problems(try Self.judged()) == [])
        #expect(Self.problems(try Self.judged(issuer: "https://evil.example")) == ["fault issuer-differs"])
        // Without the key set, which is not fetched from another origin, nothing is said of the keys.
        #expect(
            Self.problems(try Self.judged(keys: [], foreign: "https://evil.example/token"))
                == ["fault endpoint-foreign"])
        #expect(Self.problems(try Self.judged(keys: ["c"])) == ["fault keys-differ"])
        #expect(Self.problems(try Self.judged(clock: -61)) == ["fault issuer-clock"])
        #expect(Self.problems(try Self.judged(clock: 59)) == [])
    }

    @Test func `members of the metadata that differ from the settings are named`() throws {
        var members = Self.members
        members["require_pushed_authorization_requests"] = .boolean(true)
        members["scopes_supported"] = nil
        members["evil\u{1B}[2J"] = .null
        let findings = try Self.judged(members: members)
        #expect(Self.problems(findings) == ["advice metadata-differs"])
        let text = findings.all.first { $0.topic == "metadata-differs" }?.text
        #expect(
            text
                == "the metadata differs from the settings in evil[2J, require_pushed_authorization_requests, "
                + "scopes_supported")
        #expect(Self.problems(try Self.judged(expected: nil)) == ["advice metadata-unchecked"])
    }

    @Test func `an address that a client can choose or hide is a finding`() {
        func judged(_ source: String, counted: Bool = true, plain: String? = nil, standard: String? = nil) -> [String] {
            Self.topics { findings in
                let answers = [("X-Forwarded-For", plain), ("Forwarded", standard)].map { name, seen in
                    (field: name, answer: AddressCheck.Answer(source: seen ?? source, isCounted: counted))
                }
                findings.judge(
                    ObservedAddresses(honest: .init(source: source, isCounted: counted), withForged: answers))
            }
        }
        let forged = ObservedAddresses.forged
        #expect(judged("203.0.113.7") == [])
        #expect(judged("203.0.113.7", plain: forged) == ["fault address-forged"])
        #expect(judged("203.0.113.7", standard: forged) == ["fault address-forged"])
        #expect(judged("203.0.113.7", standard: "unknown, by way of 10.0.0.2") == ["advice address-evaded"])
        #expect(judged("unknown, by way of 10.0.0.2", standard: forged) == ["fault address-forged"])
        #expect(judged("unknown, by way of 10.0.0.2") == ["fault address-unreadable"])
        #expect(judged("127.0.0.1", counted: false) == ["advice address-hidden"])
        #expect(judged("127.0.0.1", plain: forged) == ["advice address-local"])
        #expect(judged("unix", counted: false, plain: forged) == ["advice address-local"])
    }

    // MARK: - A directory

    @Test func `the files of a directory are judged by their state`() throws {
        let folder = try TemporaryDirectory()
        let directory = try folder.makeFolder("data")
        func put(_ name: String, bytes: UInt64 = 1) throws {
            try Data().write(to: directory.file(name))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory.path(name))
            let file = try FileHandle(forWritingTo: directory.file(name))
            try file.truncate(atOffset: bytes)
            try file.close()
        }
        func judged() throws -> Set<String> {
            let topics = Self.topics {
                $0.check(DataDirectoryFiles(path: directory.url.path), recorded: RecordedSettings { _ in nil })
            }
            // The disk of the machine, and the missing server, are not of this test.
            return Set(topics).subtracting(["advice disk-space", "fault disk-full", "advice not-running"])
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.url.path)
        #expect(try judged() == ["fault data-directory-missing"])
        try put("counterfoil.db")
        #expect(try judged() == ["advice backup-missing"])
        try put("last-backup")
        #expect(try judged() == [])
        try FileManager.default.setAttributes(
            [.modificationDate: Date() - 2 * Self.day - 60], ofItemAtPath: directory.path("last-backup"))
        #expect(try judged() == ["fault backup-old"])
        try put("last-backup")
        // A sparse file.
        try put("counterfoil.db-wal", bytes: 129 << 20)
        #expect(try judged() == ["advice log-large"])
        try put("counterfoil.db-wal")
        try put("counterfoil.db.version-7")
        #expect(try judged() == ["advice former-copies"])
        try FileManager.default.removeItem(at: directory.file("counterfoil.db.version-7"))
        try FileManager.default.setAttributes([.posixPermissions: 0o722], ofItemAtPath: directory.url.path)
        #expect(try judged() == ["fault directory-writable"])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.url.path)
        // A link has the permissions of its file.
        try put("counterfoil.db-shm")
        try FileManager.default.moveItem(at: directory.file("counterfoil.db-shm"), to: folder.file("elsewhere"))
        try FileManager.default.createSymbolicLink(
            at: directory.file("counterfoil.db-shm"), withDestinationURL: folder.file("elsewhere"))
        #expect(try judged() == [])
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.path("elsewhere"))
        #expect(try judged() == ["fault files-readable"])
    }
}
