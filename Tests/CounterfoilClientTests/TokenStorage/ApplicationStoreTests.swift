import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of several apps of one user, each in a process of its own.
@Suite(.timeLimit(.minutes(5)))
struct ApplicationStoreTests {
    /// Opens the store of an app and saves a sign-in and a registration; fails if it finds one already.
    private static func signIn(_ application: String, _ environment: [String: String]) async throws {
        let store = try await TokenStoreChoice.defaultStore(
            for: ApplicationIdentifier(application), environment: environment)
        let credentials = try EncryptedFileTokenStoreTests.credentials(application)
        try #require(try await store.credentials(of: .standard) == nil)
        try #require(try await store.profiles().isEmpty)
        try #require(try await store.registration(at: credentials.issuer) == nil)
        try await store.save(credentials, as: .standard)
        try await store.save(
            ClientRegistration(
                issuer: credentials.issuer, clientID: try #require(ClientIdentifier(application)),
                authentication: .none, secretExpires: nil, redirectURIs: [], grantTypes: [], scope: Scope(),
                since: Date(timeIntervalSince1970: 1_900_000_000), name: application))
    }

    /// Reads the sign-in and the registration of an app; fails if they are not its own.
    private static func find(_ application: String, _ environment: [String: String]) async throws {
        let store = try await TokenStoreChoice.defaultStore(
            for: ApplicationIdentifier(application), environment: environment)
        let credentials = try EncryptedFileTokenStoreTests.credentials(application)
        try #require(try await store.credentials(of: .standard) == credentials)
        try #require(try await store.profiles().count == 1)
        try #require(try await store.registration(at: credentials.issuer)?.clientID.rawValue == application)
    }

    /// Signs in with each app, in a process each, and finds the sign-ins afterwards, in a process each.
    private static func checkSeparation(_ environment: [String: String]) async throws {
        for application in ["com.example.lightbox", "com.example.ledger", "org.example.lightbox"] {
            await #expect(processExitsWith: .success) {
                [application = application as String, environment = environment as [String: String]] in
                try await Self.signIn(application, environment)
            }
        }
        for application in ["com.example.lightbox", "com.example.ledger", "org.example.lightbox"] {
            await #expect(processExitsWith: .success) {
                [application = application as String, environment = environment as [String: String]] in
                try await Self.find(application, environment)
            }
        }
        // The command line sees none of them.
        let outcome = try await CommandLineTool.run(
            ["profiles"], home: URL(fileURLWithPath: environment["HOME"] ?? "/"), environment: environment)
        #expect(outcome.status == 0)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("No user is signed in"))
    }

    @Test func `apps of one user do not see each other's tokens in files`() async throws {
        let directory = try TemporaryDirectory()
        try await Self.checkSeparation(["HOME": directory.url.path, "PATH": "/usr/bin:/bin"])
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path(".local/share"))
        #expect(names.sorted() == ["com.example.ledger", "com.example.lightbox", "org.example.lightbox"])
    }

    #if os(Linux)
        @Test(.enabled(if: SecretServiceSession.isWanted, "the Secret Service is not installed"))
        func `apps of one user do not see each other's tokens in the Secret Service`() async throws {
            let session = try await SecretServiceSession()
            try await Self.checkSeparation(session.environment)
            withExtendedLifetime(session) {}
        }
    #endif

    @Test(arguments: ["com.example.lightbox", "org.example.photos-2.light_box", "a.b"])
    func `a name in reverse DNS notation is an application identifier`(name: String) throws {
        #expect(try ApplicationIdentifier(name).rawValue == name)
        #expect(try ApplicationIdentifier(name.uppercased()).rawValue == name)
    }

    @Test(arguments: [
        "", "counterfoil", "com..example", ".com.example", "com.example.", "com.example/../x", "com.-a.b", "com.é.b",
        "com.\u{212A}.b", "com.example lightbox", String(repeating: "a", count: 64) + ".b",
        String(repeating: "a.", count: 100) + "b",
    ])
    func `any other text is not an application identifier`(text: String) {
        #expect(throws: ApplicationIdentifier.Refusal.notReverseDNS) { try ApplicationIdentifier(text) }
    }
}
