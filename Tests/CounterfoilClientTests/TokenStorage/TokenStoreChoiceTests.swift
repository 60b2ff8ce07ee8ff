import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

@Suite(.timeLimit(.minutes(5)))
struct TokenStoreChoiceTests {
    @Test func `the keywords of a store choice are parsed`() throws {
        #expect(try TokenStoreChoice(parsing: "auto") == .automatic)
        #expect(try TokenStoreChoice(parsing: "secret-service") == .secretService)
        #expect(try TokenStoreChoice(parsing: "keychain") == .keychain)
        #expect(try TokenStoreChoice(parsing: "memory") == .memory)
        #expect(try TokenStoreChoice(parsing: "file:/a/b") == .file(URL(fileURLWithPath: "/a/b")))
    }

    @Test(arguments: [
        ("", TokenStoreChoice.Refusal.unknown), ("Auto", .unknown), ("/a/b", .unknown), ("secret service", .unknown),
        ("file:", .noFile), ("file:~/tokens", .tilde), ("file:/a/", .badPath), ("file:/a\nb", .badPath),
    ])
    func `any other text is refused with a remedy`(text: String, refusal: TokenStoreChoice.Refusal) {
        #expect(throws: refusal) { try TokenStoreChoice(parsing: text) }
        #expect("\(refusal)".contains("file:") || "\(refusal)".contains("file"))
    }

    @Test func `a store that this system lacks is reported as unavailable`() async {
        await #expect(throws: TokenStoreError.unavailable(location: "the Keychain", reason: "this system has none")) {
            try await TokenStoreChoice.keychain.open(application: .commandLine)
        }
    }

    @Test func `the choice memory opens a memory store`() async throws {
        let opened = try await TokenStoreChoice.memory.open(application: .commandLine)
        #expect("\(opened)" == "tokens are stored in memory: they are lost when this program ends")
    }

    @Test func `without a Secret Service auto uses the encrypted file and says why`() async throws {
        let directory = try TemporaryDirectory()
        let environment = ["HOME": directory.url.path, "PATH": "/usr/bin:/bin"]
        let opened = try await TokenStoreChoice.automatic.open(application: .commandLine, environment: environment)
        let file = directory.file(".local/share/counterfoil/tokens")
        #expect(opened.location == .file(file))
        #expect(opened.reason.hasPrefix("the Secret Service is not used, because "))
        try await opened.store.save(EncryptedFileTokenStoreTests.credentials(), as: .standard)
        let store = try await TokenStoreChoice.defaultStore(for: .commandLine, environment: environment)
        #expect(try await store.credentials(of: .standard) == EncryptedFileTokenStoreTests.credentials())
        let again = try await TokenStoreChoice.automatic.open(application: .commandLine, environment: environment)
        #expect(
            "\(again)"
                == "tokens are stored in the encrypted file \(file.path), with its key in \(file.path).key: "
                + "it already contains tokens")
    }

    #if os(Linux)
        private static let needsService = ConditionTrait.enabled(
            if: SecretServiceSession.isWanted, "the Secret Service is not installed")

        @Test(needsService) func `auto uses an unlocked Secret Service and keeps using it`() async throws {
            let session = try await SecretServiceSession()
            let opened = try await TokenStoreChoice.automatic.open(
                application: .commandLine, environment: session.environment)
            #expect(
                "\(opened)" == "tokens are stored in the Secret Service: it is available and its collection is unlocked"
            )
            try await opened.store.save(EncryptedFileTokenStoreTests.credentials(), as: .standard)
            // In a session where the service is unavailable, the result is an error and not another store
            // without the tokens.
            var elsewhere = session.environment
            elsewhere["DBUS_SESSION_BUS_ADDRESS"] = nil
            let again = try await TokenStoreChoice.automatic.open(application: .commandLine, environment: elsewhere)
            #expect(again.location == .secretService)
            #expect(again.reason == "it already contains tokens")
            await #expect(throws: TokenStoreError.self) { try await again.store.record(of: .standard) }
            // When the last profile is deleted, the choice is open again.
            try await opened.store.remove(.standard)
            guard
                case .file = try await TokenStoreChoice.automatic.open(
                    application: .commandLine, environment: elsewhere
                ).location
            else {
                Issue.record("nothing is in the Secret Service any more")
                return
            }
        }

        @Test(needsService) func `auto uses the file if the collection is locked`() async throws {
            let session = try await SecretServiceSession()
            try await session.lock()
            let opened = try await TokenStoreChoice.automatic.open(
                application: .commandLine, environment: session.environment)
            #expect(opened.reason == "the Secret Service is not used, because its collection is locked")
        }

        @Test(needsService) func `auto keeps using the file when a Secret Service becomes available`() async throws {
            let session = try await SecretServiceSession()
            var elsewhere = session.environment
            elsewhere["DBUS_SESSION_BUS_ADDRESS"] = nil
            let opened = try await TokenStoreChoice.automatic.open(application: .commandLine, environment: elsewhere)
            try await opened.store.save(EncryptedFileTokenStoreTests.credentials(), as: .standard)
            let again = try await TokenStoreChoice.automatic.open(
                application: .commandLine, environment: session.environment)
            #expect(again.location == opened.location)
            #expect(try await again.store.record(of: .standard) != nil)
        }

        @Test(needsService) func `an explicitly chosen file reports the location of its key`() async throws {
            let session = try await SecretServiceSession()
            let directory = try TemporaryDirectory()
            let file = directory.file("tokens")
            let choice = try TokenStoreChoice(parsing: "file:\(file.path)")
            let opened = try await choice.open(application: .commandLine, environment: session.environment)
            try await opened.store.save(EncryptedFileTokenStoreTests.credentials(), as: .standard)
            #expect(
                "\(opened)"
                    == "tokens are stored in the encrypted file \(file.path), with its key in the Secret Service: "
                    + "it was requested")
        }
    #endif
}
