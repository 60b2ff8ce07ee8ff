import CounterfoilProtocol
import Foundation
import Testing

@testable import CounterfoilClient

struct EncryptedFileTokenStoreTests {
    static func credentials(_ token: String = "a-secret-access-token", expires: Date? = nil) throws -> Credentials {
        Credentials(
            issuer: try Issuer("https://id.example.com"), clientID: try #require(ClientIdentifier("lightbox")),
            scope: try Scope(parsing: "openid photos.read"), accessToken: try #require(AccessToken(token)),
            expires: expires, person: nil)
    }

    private func mode(_ url: URL) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int)
    }

    private func setMode(_ mode: Int, of url: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }

    // R042 R043, CL-36
    @Test func `what is kept comes back, from files that only the person can read`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("new/folder/tokens")
        let store = EncryptedFileTokenStore(file: file)
        let work = try #require(ProfileName("work"))
        let (one, two) = (
            try Self.credentials("one"), try Self.credentials("two", expires: Date(timeIntervalSince1970: 9e8))
        )
        #expect(try store.credentials(of: .standard) == nil)
        try store.save(one, as: .standard)
        try store.save(two, as: work)
        #expect(try EncryptedFileTokenStore(file: file).credentials(of: .standard) == one)
        #expect(try store.credentials(of: work) == two)
        #expect(try mode(file) == 0o600)
        #expect(try mode(directory.file("new/folder/tokens.key")) == 0o600)
        #expect(try mode(directory.file("new/folder")) == 0o700)
        #expect(try store.remove(work))
        #expect(try !store.remove(work))
        #expect(try store.credentials(of: .standard) == one)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.file("new/folder").path)
        #expect(names.sorted() == ["tokens", "tokens.key", "tokens.lock"])
    }

    // R042 R044, CL-36
    @Test func `the file holds neither a token in clear nor a refresh token at all`() throws {
        let directory = try TemporaryDirectory()
        let store = EncryptedFileTokenStore(file: directory.file("tokens"))
        let credentials = try Self.credentials()
        try store.save(credentials, as: .standard)
        let bytes = try Data(contentsOf: directory.file("tokens"))
        for text in ["a-secret-access-token", "photos.read", "id.example.com"] {
            #expect(bytes.range(of: Data(text.utf8)) == nil)
        }
        let plain = String(decoding: try JSONEncoder().encode(credentials), as: UTF8.self)
        #expect(!plain.contains("refresh"))
    }

    // CL-36
    @Test(arguments: ["tokens", "tokens.key"], [0o640, 0o604, 0o620, 0o666])
    func `a file that others can reach is refused with the mend`(name: String, mode: Int) throws {
        let directory = try TemporaryDirectory()
        let store = EncryptedFileTokenStore(file: directory.file("tokens"))
        try store.save(try Self.credentials(), as: .standard)
        try setMode(mode, of: directory.file(name))
        let error = #expect(throws: TokenStoreError.self) { try store.credentials(of: .standard) }
        #expect("\(try #require(error))".contains("chmod 600 \(directory.file(name).path)"))
    }

    @Test func `links, folders and a directory that others write are refused`() throws {
        let directory = try TemporaryDirectory()
        let store = EncryptedFileTokenStore(file: directory.file("tokens"))
        try FileManager.default.createDirectory(at: directory.file("real"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: directory.file("tokens"), withDestinationURL: directory.file("x"))
        #expect(throws: TokenStoreError.self) { try store.credentials(of: .standard) }
        #expect(throws: TokenStoreError.self) {
            try EncryptedFileTokenStore(file: directory.file("real")).credentials(of: .standard)
        }
        try setMode(0o777, of: directory.file("real"))
        #expect(throws: TokenStoreError.self) {
            try EncryptedFileTokenStore(file: directory.file("real/tokens")).save(Self.credentials(), as: .standard)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `a file of another user is refused`() throws {
        let directory = try TemporaryDirectory()
        let store = EncryptedFileTokenStore(file: directory.file("tokens"))
        try store.save(try Self.credentials(), as: .standard)
        #expect(chown(directory.file("tokens").path, 12345, 12345) == 0)
        let error = #expect(throws: TokenStoreError.self) { try store.credentials(of: .standard) }
        #expect("\(try #require(error))".contains("belongs to another user"))
    }

    @Test(arguments: [0, 21, 40, -1])
    func `a changed byte anywhere is noticed, and nothing is overwritten`(place: Int) throws {
        let directory = try TemporaryDirectory()
        let store = EncryptedFileTokenStore(file: directory.file("tokens"))
        try store.save(try Self.credentials(), as: .standard)
        var bytes = [UInt8](try Data(contentsOf: directory.file("tokens")))
        bytes[place < 0 ? bytes.count - 1 : place] ^= 1
        try Data(bytes).write(to: directory.file("tokens"))
        try setMode(0o600, of: directory.file("tokens"))
        #expect(throws: TokenStoreError.unreadable(path: directory.file("tokens").path)) {
            try store.save(Self.credentials(), as: .standard)
        }
        #expect(try [UInt8](Data(contentsOf: directory.file("tokens"))) == bytes)
    }

    @Test func `many that save at once all succeed`() async throws {
        let directory = try TemporaryDirectory()
        let store = EncryptedFileTokenStore(file: directory.file("tokens"))
        let credentials = try Self.credentials()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try store.save(credentials, as: try #require(ProfileName("profile-\(number)")))
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<20 {
            #expect(try store.credentials(of: try #require(ProfileName("profile-\(number)"))) == credentials)
        }
    }

    @Test func `the standard place follows the XDG Base Directory Specification`() {
        func path(_ environment: [String: String]) -> String {
            EncryptedFileTokenStore.standard(environment: environment).file.path
        }
        #expect(path(["XDG_DATA_HOME": "/data", "HOME": "/home/alice"]) == "/data/counterfoil/tokens")
        #expect(
            path(["XDG_DATA_HOME": "data", "HOME": "/home/alice"]) == "/home/alice/.local/share/counterfoil/tokens")
        #expect(path(["HOME": "/home/alice"]) == "/home/alice/.local/share/counterfoil/tokens")
    }

    @Test func `a memory store forgets on request`() throws {
        let store = MemoryTokenStore()
        store.save(try Self.credentials(), as: .standard)
        #expect(store.credentials(of: .standard) != nil)
        #expect(store.remove(.standard))
        #expect(store.credentials(of: .standard) == nil)
    }
}
