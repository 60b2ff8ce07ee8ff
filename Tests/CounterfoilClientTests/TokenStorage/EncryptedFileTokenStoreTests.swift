import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

struct EncryptedFileTokenStoreTests {
    static func credentials(
        _ token: String = "a-secret-access-token", issuer: Issuer? = nil, expires: Date? = nil,
        refreshToken: String? = nil
    ) throws -> Credentials {
        Credentials(
            issuer: try issuer ?? Issuer("https://id.example.com"),
            clientID: try #require(ClientIdentifier("lightbox")),
            scope: try Scope(parsing: "openid photos.read"), accessToken: try #require(AccessToken(token)),
            expires: expires, user: nil, refreshToken: refreshToken.flatMap { RefreshToken($0) })
    }

    private static func store(_ file: URL) -> EncryptedFileTokenStore {
        EncryptedFileTokenStore(file: file, placement: .besideTheFile)
    }

    private func mode(_ url: URL) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int)
    }

    private func setMode(_ mode: Int, of url: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }

    @Test func `credentials are read back from files that only the user can read`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("new/folder/tokens")
        let store = Self.store(file)
        let work = try #require(ProfileName("work"))
        let (one, two) = (
            try Self.credentials("one"), try Self.credentials("two", expires: Date(timeIntervalSince1970: 9e8))
        )
        #expect(try await store.credentials(of: .standard) == nil)
        try await store.save(one, as: .standard)
        try await store.save(two, as: work)
        #expect(try await Self.store(file).credentials(of: .standard) == one)
        #expect(try await store.credentials(of: work) == two)
        #expect(try mode(file) == 0o600)
        #expect(try mode(directory.file("new/folder/tokens.key")) == 0o600)
        #expect(try mode(directory.file("new/folder")) == 0o700)
        #expect(try await store.remove(work))
        #expect(try await !store.remove(work))
        #expect(try await store.credentials(of: .standard) == one)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.file("new/folder").path)
        #expect(names.sorted() == ["tokens", "tokens.key", "tokens.lock"])
    }

    @Test func `the file contains no token in clear, and no refresh token of a client that does not refresh`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let store = Self.store(directory.file("tokens"))
        let credentials = try Self.credentials()
        try await store.save(credentials, as: .standard)
        let bytes = try Data(contentsOf: directory.file("tokens"))
        for text in ["a-secret-access-token", "photos.read", "id.example.com"] {
            #expect(bytes.range(of: Data(text.utf8)) == nil)
        }
        let plain = String(decoding: try JSONEncoder().encode(credentials), as: UTF8.self)
        #expect(!plain.contains("refresh"))
    }

    @Test(arguments: ["tokens", "tokens.key"], [0o640, 0o604, 0o620, 0o666])
    func `a file that other users can access is refused with a remedy`(name: String, mode: Int) async throws {
        let directory = try TemporaryDirectory()
        let store = Self.store(directory.file("tokens"))
        try await store.save(try Self.credentials(), as: .standard)
        try setMode(mode, of: directory.file(name))
        let error = await #expect(throws: TokenStoreError.self) { try await store.credentials(of: .standard) }
        #expect("\(try #require(error))".contains("chmod 600 \(directory.file(name).path)"))
    }

    @Test func `links, folders and a directory writable by others are refused`() async throws {
        let directory = try TemporaryDirectory()
        let store = Self.store(directory.file("tokens"))
        try FileManager.default.createDirectory(at: directory.file("real"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: directory.file("tokens"), withDestinationURL: directory.file("x"))
        await #expect(throws: TokenStoreError.self) { try await store.credentials(of: .standard) }
        await #expect(throws: TokenStoreError.self) {
            try await Self.store(directory.file("real")).credentials(of: .standard)
        }
        try setMode(0o777, of: directory.file("real"))
        await #expect(throws: TokenStoreError.self) {
            try await Self.store(directory.file("real/tokens")).save(Self.credentials(), as: .standard)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `a file of another user is refused`() async throws {
        let directory = try TemporaryDirectory()
        let store = Self.store(directory.file("tokens"))
        try await store.save(try Self.credentials(), as: .standard)
        #expect(chown(directory.file("tokens").path, 12345, 12345) == 0)
        let error = await #expect(throws: TokenStoreError.self) { try await store.credentials(of: .standard) }
        #expect(
            "\(try #require(error))".contains("belongs to the user 12345, not to root; run this program as that user"))
    }

    @Test(arguments: [0, 21, 40, -1])
    func `a changed byte at any position is detected, and nothing is overwritten`(place: Int) async throws {
        let directory = try TemporaryDirectory()
        let store = Self.store(directory.file("tokens"))
        try await store.save(try Self.credentials(), as: .standard)
        var bytes = [UInt8](try Data(contentsOf: directory.file("tokens")))
        bytes[place < 0 ? bytes.count - 1 : place] ^= 1
        try Data(bytes).write(to: directory.file("tokens"))
        try setMode(0o600, of: directory.file("tokens"))
        await #expect(throws: TokenStoreError.unreadable(path: directory.file("tokens").path)) {
            try await store.save(Self.credentials(), as: .standard)
        }
        #expect(try [UInt8](Data(contentsOf: directory.file("tokens"))) == bytes)
    }

    @Test func `concurrent saves all succeed`() async throws {
        let directory = try TemporaryDirectory()
        let store = Self.store(directory.file("tokens"))
        let credentials = try Self.credentials()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await store.save(credentials, as: try #require(ProfileName("profile-\(number)")))
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<20 {
            #expect(try await store.credentials(of: try #require(ProfileName("profile-\(number)"))) == credentials)
        }
    }

    @Test func `the standard path follows the XDG Base Directory Specification`() throws {
        func path(_ environment: [String: String], of application: ApplicationIdentifier = .commandLine) -> String {
            EncryptedFileTokenStore.standard(for: application, environment: environment).file.path
        }
        #expect(path(["XDG_DATA_HOME": "/data", "HOME": "/home/alice"]) == "/data/counterfoil/tokens")
        #expect(
            path(["XDG_DATA_HOME": "data", "HOME": "/home/alice"]) == "/home/alice/.local/share/counterfoil/tokens")
        #expect(path(["HOME": "/home/alice"]) == "/home/alice/.local/share/counterfoil/tokens")
        let lightbox = try ApplicationIdentifier("com.example.Lightbox")
        #expect(
            path(["HOME": "/home/alice"], of: lightbox)
                == "/home/alice/.local/share/com.example.lightbox/counterfoil/tokens")
    }

    /// Writes a file in some format, and the key 00 01 … 1f beside it.
    func write(_ base64: String, to file: URL) throws {
        let key = URL(fileURLWithPath: file.path + ".key")
        try #require(Data(base64Encoded: base64)).write(to: file)
        try Data((0..<32).map { UInt8($0) }).write(to: key)
        for url in [file, key] { try setMode(0o600, of: url) }
    }

    /// A record of version 2 under the profile `default`.
    private static let laterRecord = """
        Y291bnRlcmZvaWwgdG9rZW5zIDEga2V5LWZpbGUKZGVmZ2hpamtsbW5vMzmsAxqGJPpNQGWT+AEPmyO3an6pVtEX3pueEqPp3ynD0DWJJn3iSL\
        65EF2TLvquXDftvVkDd0yyu52Mt7GYqHWg+XyzLFJ2/x2MN3jlX5VGQmRJ2o/7yUqxRqaAXK0j5hGke9I=
        """

    @Test func `a record of a later version is preserved until it is replaced or removed`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("tokens")
        try write(Self.laterRecord, to: file)
        let store = Self.store(file)
        let newer = TokenStoreError.newer(location: file.path)
        await #expect(throws: newer) { try await store.record(of: .standard) }
        let work = try #require(ProfileName("work"))
        try await store.save(Self.credentials(), as: work)
        #expect(try await store.credentials(of: work) != nil)
        await #expect(throws: newer) { try await store.record(of: .standard) }
        #expect(
            try await store.profiles().first == StoredProfile(.standard, .failure(newer)))
        #expect(try await store.remove(.standard))
        #expect(try await store.profiles().map(\.name) == [work])
    }

    @Test(arguments: [
        ("counterfoil tokens 2 key-moon\nxxxx", true), ("counterfoil tokens 1 key-moon\nxxxx", false),
        ("counterfoil tokens 1 secret-service ../x\nxxxx", false), ("counterfoil tokens\n", false), ("", false),
        ("counterfoil tokens 1 key-file\n", false), (String(repeating: "x", count: 200), false),
    ])
    func `a file with a foreign first line is not overwritten`(text: String, isNewer: Bool) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("tokens")
        try write(Data(text.utf8).base64EncodedString(), to: file)
        let path = file.path
        await #expect(throws: isNewer ? TokenStoreError.newer(location: path) : .unreadable(path: path)) {
            try await Self.store(file).save(Self.credentials(), as: .standard)
        }
        #expect(try Data(contentsOf: file) == Data(text.utf8))
    }

    @Test(arguments: [1, 40, 100]) func `a truncated file is detected`(
        length: Int
    ) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("tokens")
        let store = Self.store(file)
        try await store.save(Self.credentials(), as: .standard)
        #expect(truncate(file.path, off_t(length)) == 0)
        await #expect(throws: TokenStoreError.unreadable(path: file.path)) { try await store.record(of: .standard) }
    }

    @Test func `a missing key is not replaced while the token file exists`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("tokens")
        let store = Self.store(file)
        try await store.save(Self.credentials(), as: .standard)
        try FileManager.default.removeItem(at: directory.file("tokens.key"))
        let error = TokenStoreError.keyMissing(path: file.path, key: file.path + ".key")
        await #expect(throws: error) { try await store.record(of: .standard) }
        await #expect(throws: error) { try await store.save(Self.credentials(), as: .standard) }
        #expect(!FileManager.default.fileExists(atPath: file.path + ".key"))
    }

    @Test func `deleting the last profile deletes the file and its key`() async throws {
        let directory = try TemporaryDirectory()
        let store = Self.store(directory.file("tokens"))
        try await store.save(Self.credentials(), as: .standard)
        try await store.remove(.standard)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["tokens.lock"])
        #expect(try store.keyLocation() == nil)
        #expect(try await store.record(of: .standard) == nil)
    }

    @Test func `a lock file that other users can access or that is a link is refused`() async throws {
        let directory = try TemporaryDirectory()
        let store = Self.store(directory.file("tokens"))
        try await store.refreshLock(of: .standard, within: .zero).release()
        let lock = directory.file("tokens.default.refresh")
        #expect(try mode(lock) == 0o600)
        try setMode(0o666, of: lock)
        await #expect(throws: TokenStoreError.self) {
            try await store.refreshLock(of: .standard, within: .zero).release()
        }
        try FileManager.default.removeItem(at: lock)
        try FileManager.default.createSymbolicLink(at: lock, withDestinationURL: directory.file("elsewhere"))
        await #expect(throws: TokenStoreError.self) {
            try await store.refreshLock(of: .standard, within: .zero).release()
        }
        #expect(!FileManager.default.fileExists(atPath: directory.file("elsewhere").path))
    }

    @Test func `the errors say what to do`() {
        let errors: [(TokenStoreError, String)] = [
            (.unreadable(path: "/t"), "sign in again"), (.keyMissing(path: "/t", key: "/t.key"), "restore it"),
            (.damaged(location: "x"), "sign out to delete it"), (.newer(location: "/t"), "use that version"),
            (.busy(location: "/t", holder: nil), "try again later"),
            (.unavailable(location: "x", reason: "because"), "because"),
        ]
        for (error, words) in errors { #expect("\(error)".contains(words)) }
    }
}
