import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of the behavior that all stores have in common.
@Suite(.timeLimit(.minutes(5)))
struct TokenStoreContractTests {
    /// A kind of store, with the setup that it needs.
    enum Kind: String, CaseIterable, Sendable {
        case memory
        case file
        #if os(Linux)
            case fileWithKeyInSecretService
            case secretService
        #endif

        static var available: [Kind] {
            #if os(Linux)
                if SecretServiceSession.isWanted { return allCases }
            #endif
            return [.memory, .file]
        }

        /// Runs a test with an empty store of this kind.
        func run(_ body: (any TokenStore & ClientRegistrationStore) async throws -> Void) async throws {
            let directory = try TemporaryDirectory()
            switch self {
            case .memory: try await body(MemoryTokenStore())
            case .file:
                try await body(
                    EncryptedFileTokenStore(file: directory.file("tokens"), placement: .besideTheFile))
            #if os(Linux)
                case .fileWithKeyInSecretService:
                    let session = try await SecretServiceSession()
                    let store = EncryptedFileTokenStore(
                        file: directory.file("tokens"), environment: session.environment)
                    try await body(store)
                    withExtendedLifetime(session) {}
                case .secretService:
                    let session = try await SecretServiceSession()
                    try await body(
                        SecretServiceTokenStore(
                            application: .commandLine, environment: session.environment))
                    withExtendedLifetime(session) {}
            #endif
            }
        }
    }

    private static let work = ProfileName("work") ?? .standard

    private static func credentials(_ token: String = "a", refreshToken: String? = nil) throws -> Credentials {
        try EncryptedFileTokenStoreTests.credentials(token, refreshToken: refreshToken)
    }

    @Test(arguments: Kind.available)
    func `a profile name that looks like an option works like any other`(kind: Kind) async throws {
        try await kind.run { store in
            let profile = try #require(ProfileName("--all"))
            let credentials = try Self.credentials("one")
            try await store.save(credentials, as: profile)
            #expect(try await store.credentials(of: profile) == credentials)
            #expect(try await store.profiles().map(\.name) == [profile])
            try await store.remove(profile)
            #expect(try await store.profiles().isEmpty)
        }
    }

    @Test(arguments: Kind.available)
    func `the check before a sign-in leaves the store as it was`(kind: Kind) async throws {
        try await kind.run { store in
            try await store.checkWritable(.standard)
            #expect(try await store.profiles().isEmpty)
            let credentials = try Self.credentials("one")
            try await store.save(credentials, as: .standard)
            let before = try await store.record(of: .standard)
            for profile in [ProfileName.standard, Self.work] { try await store.checkWritable(profile) }
            #expect(try await store.record(of: .standard) == before)
            #expect(try await store.profiles().map(\.name) == [.standard])
        }
    }

    @Test(arguments: Kind.available)
    func `a registration is found at its server and outlives the sign-ins`(kind: Kind) async throws {
        try await kind.run { store in
            let (one, other) = (try Issuer("https://id.example.com/a"), try Issuer("https://id.example.com/b"))
            func registration(_ name: String, at issuer: Issuer) throws -> ClientRegistration {
                ClientRegistration(
                    issuer: issuer, clientID: try #require(ClientIdentifier(name)),
                    authentication: .secretBasic(try #require(ClientSecret("secret of \(name)"))),
                    secretExpires: Date(timeIntervalSince1970: 2_000_000_000),
                    redirectURIs: ["http://127.0.0.1/callback"], grantTypes: ["authorization_code"],
                    scope: try Scope(parsing: "openid"), since: Date(timeIntervalSince1970: 1_900_000_000), name: name)
            }
            #expect(try await store.registration(at: one) == nil)
            let (first, second) = (try registration("first", at: one), try registration("second", at: other))
            try await store.save(first)
            try await store.save(second)
            #expect(try await store.registration(at: one) == first)
            #expect(try await store.registration(at: other) == second)
            #expect(try await store.registration(at: try Issuer("https://id.example.com")) == nil)
            #expect(try await store.profiles().isEmpty)

            try await store.save(try Self.credentials(), as: .standard)
            #expect(try await store.remove(.standard))
            #expect(try await store.registration(at: one) == first)
            let third = try registration("third", at: one)
            try await store.save(third)
            #expect(try await store.registration(at: one) == third)
            try await store.removeRegistration(at: one)
            try await store.removeRegistration(at: one)
            #expect(try await store.registration(at: one) == nil)
            #expect(try await store.registration(at: other) == second)
            try await store.removeRegistration(at: other)
        }
    }

    @Test(arguments: Kind.available)
    func `only one task at a time registers at a server`(kind: Kind) async throws {
        try await kind.run { store in
            let (one, other) = (try Issuer("https://id.example.com/a"), try Issuer("https://id.example.com/b"))
            let lock = try await store.registrationLock(at: one, within: .seconds(1))
            let otherLock = try await store.registrationLock(at: other, within: .seconds(1))
            await #expect(throws: TokenStoreError.self) {
                _ = try await store.registrationLock(at: one, within: .milliseconds(20))
            }
            lock.release()
            otherLock.release()
            try await store.registrationLock(at: one, within: .seconds(1)).release()
        }
    }

    @Test(arguments: Kind.available)
    func `saved credentials are found under their profile until they are removed`(kind: Kind) async throws {
        try await kind.run { store in
            #expect(try await store.credentials(of: .standard) == nil)
            #expect(try await store.profiles().isEmpty)
            let (one, two) = (try Self.credentials("one", refreshToken: "r1"), try Self.credentials("two"))
            try await store.save(one, as: .standard)
            try await store.save(two, as: Self.work)
            #expect(try await store.credentials(of: .standard) == one)
            #expect(try await store.credentials(of: Self.work) == two)
            #expect(try await store.profiles().map(\.name) == [.standard, Self.work])
            #expect(try await store.profiles().first?.content.get().issuer == one.issuer)
            #expect(try await store.remove(.standard))
            #expect(try await !store.remove(.standard))
            #expect(try await store.credentials(of: .standard) == nil)
            #expect(try await store.credentials(of: Self.work) == two)
            #expect(try await store.remove(Self.work))
            #expect(try await store.profiles().isEmpty)
        }
    }

    @Test(arguments: Kind.available)
    func `very long credentials are read back unchanged`(kind: Kind) async throws {
        try await kind.run { store in
            for length in [5_800, 9_000, 60_000, 12_000, 10] {
                let credentials = try Self.credentials(
                    String(repeating: "x", count: length), refreshToken: "r\(length)")
                try await store.save(credentials, as: .standard)
                #expect(try await store.credentials(of: .standard) == credentials)
            }
            #expect(try await store.remove(.standard))
        }
    }

    @Test(arguments: Kind.available)
    func `a record is replaced only if it has not changed since it was read`(kind: Kind) async throws {
        try await kind.run { store in
            let first = try await store.save(try Self.credentials("one"), as: .standard)
            let second = try await store.replace(first, with: try Self.credentials("two"), in: .standard)
            let kept = try #require(try await store.record(of: .standard))
            #expect(second == .replaced(by: kept))
            #expect(kept.credentials.accessToken.exposed == "two")
            // The same credentials, with another revision.
            #expect(
                try await store.replace(first, with: try Self.credentials("three"), in: .standard)
                    == .changed(to: kept))
            #expect(try await store.replace(first, with: nil, in: .standard) == .changed(to: kept))
            #expect(try await store.credentials(of: .standard) == kept.credentials)
            #expect(try await store.replace(kept, with: nil, in: .standard) == .replaced(by: nil))
            #expect(
                try await store.replace(kept, with: try Self.credentials("four"), in: .standard) == .changed(to: nil))
            #expect(try await store.record(of: .standard) == nil)
        }
    }

    @Test(arguments: Kind.available)
    func `a refresh intent is stored before the request and deleted with the response`(kind: Kind) async throws {
        try await kind.run { store in
            let token = try #require(RefreshToken("r1"))
            let saved = try await store.save(try Self.credentials("one", refreshToken: "r1"), as: .standard)
            let start = Date(timeIntervalSince1970: 1_800_000_000)
            guard
                case .replaced(let begun?) = try await store.beginRefresh(
                    of: saved, sending: token, at: start, in: .standard)
            else {
                Issue.record("the record was still the same")
                return
            }
            // The record that the next process finds if this one is killed now.
            let found = try #require(try await store.record(of: .standard))
            #expect(found == begun)
            #expect(found.credentials == saved.credentials)
            #expect(found.refreshIntent?.since == start)
            #expect(found.refreshIntent?.concerns(token) == true)
            #expect(found.refreshIntent?.concerns(try #require(RefreshToken("r2"))) == false)
            #expect(
                try await store.beginRefresh(of: saved, sending: token, at: start, in: .standard) == .changed(to: found)
            )
            _ = try await store.replace(found, with: try Self.credentials("two", refreshToken: "r2"), in: .standard)
            #expect(try await store.record(of: .standard)?.refreshIntent == nil)
        }
    }

    @Test(arguments: Kind.available)
    func `one of many tasks that replace the same record succeeds`(kind: Kind) async throws {
        try await kind.run { store in
            let first = try await store.save(try Self.credentials("start"), as: .standard)
            let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let credentials = try Self.credentials("number-\(number)")
                        switch try await store.replace(first, with: credentials, in: .standard) {
                        case .replaced: return number
                        case .changed: return nil
                        }
                    }
                }
                return try await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
            }
            let winner = try #require(winners.first)
            #expect(winners.count == 1)
            #expect(try await store.credentials(of: .standard)?.accessToken.exposed == "number-\(winner)")
        }
    }

    @Test(arguments: Kind.available)
    func `only one task at a time holds the refresh lock of a profile`(kind: Kind) async throws {
        try await kind.run { store in
            let lock = try await store.refreshLock(of: .standard, within: .zero)
            let otherLock = try await store.refreshLock(of: Self.work, within: .zero)
            await #expect {
                try await store.refreshLock(of: .standard, within: .milliseconds(50)).release()
            } throws: { error in
                if case .busy = error as? TokenStoreError { true } else { false }
            }
            // The lock does not block writing.
            try await store.save(try Self.credentials(), as: .standard)
            async let next: Void = store.refreshLock(of: .standard, within: .seconds(30)).release()
            lock.release()
            try await next
            otherLock.release()
        }
    }

    @Test(arguments: Kind.available)
    func `cancelling ends the wait for the lock but not a write`(kind: Kind) async throws {
        try await kind.run { store in
            let lock = try await store.refreshLock(of: .standard, within: .zero)
            let waiting = Task { try await store.refreshLock(of: .standard, within: .seconds(60)).release() }
            waiting.cancel()
            await #expect(throws: TokenStoreError.cancelled) { try await waiting.value }
            lock.release()
            let credentials = try Self.credentials()
            let writing = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await store.save(credentials, as: .standard)
            }
            _ = try await writing.value
            #expect(try await store.credentials(of: .standard) == credentials)
        }
    }
}
