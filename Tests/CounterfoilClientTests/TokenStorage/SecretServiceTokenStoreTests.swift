#if os(Linux)
    import TestSupport
    import CounterfoilProtocol
    import Foundation
    import Testing

    @testable import CounterfoilClient

    /// Tests with the real GNOME Keyring, on a bus of its own.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: SecretServiceSession.isWanted, "the Secret Service is not installed"))
    struct SecretServiceTokenStoreTests {
        private static func unavailable(_ words: String) -> (any Error) -> Bool {
            { error in
                guard case .unavailable(_, let reason) = error as? TokenStoreError else { return false }
                return reason.contains(words)
            }
        }

        /// Creates a folder with a shell script of the given name, and returns a `PATH` that starts with that
        /// folder.
        private static func path(_ directory: TemporaryDirectory, _ name: String, _ script: String) throws
            -> String
        {
            try ShellProgram.write(script, to: directory.file(name))
            return "\(directory.url.path):/usr/bin:/bin"
        }

        @Test func `tokens appear in no argument and no environment variable of secret-tool`() async throws {
            let session = try await SecretServiceSession()
            let directory = try TemporaryDirectory()
            let seen = directory.file("seen").path
            var environment = session.environment
            environment["PATH"] = try Self.path(
                directory, "secret-tool", "{ printf '%s\\n' \"$@\"; env; } >> \(seen); exec /usr/bin/secret-tool \"$@\""
            )
            let store = SecretServiceTokenStore(application: .commandLine, environment: environment)
            let credentials = try EncryptedFileTokenStoreTests.credentials(
                "secret-access-token", refreshToken: "secret-refresh-token")
            try await store.save(credentials, as: .standard)
            #expect(try await store.credentials(of: .standard) == credentials)
            let told = try String(contentsOfFile: seen, encoding: .utf8)
            #expect(told.contains("application\ncounterfoil\nkind\ncredentials\nprofile\ndefault\n"))
            let record = Base64URL.encode(Array("secret-access-token".utf8).dropLast(1))
            for text in ["secret-access", "secret-refresh", String(record.prefix(20)), "id.example.com"] {
                #expect(!told.contains(text))
            }
        }

        @Test func `a locked collection is an error and not a signed-out user`() async throws {
            let session = try await SecretServiceSession()
            let store = SecretServiceTokenStore(application: .commandLine, environment: session.environment)
            let credentials = try EncryptedFileTokenStoreTests.credentials()
            try await store.save(credentials, as: .standard)
            try await session.lock()
            await #expect(performing: { try await store.record(of: .standard) }, throws: Self.unavailable("locked"))
            await #expect(performing: { try await store.profiles() }, throws: Self.unavailable("locked"))
            await #expect(performing: { try await store.remove(.standard) }, throws: Self.unavailable("locked"))
            await #expect(performing: { try await store.checkWritable(.standard) }, throws: Self.unavailable("locked"))
            await #expect(
                performing: { try await store.save(credentials, as: .standard) }, throws: Self.unavailable("locked"))
            try await session.unlock()
            #expect(try await store.credentials(of: .standard) == credentials)
        }

        @Test(.timeLimit(.minutes(1)))
        func `the wait for a service that shows a prompt has a limit`() async throws {
            let session = try await SecretServiceSession()
            let directory = try TemporaryDirectory()
            var environment = session.environment
            environment["PATH"] = try Self.path(directory, "secret-tool", "sleep 1000")
            let store = SecretServiceTokenStore(
                application: .commandLine, environment: environment, timeout: .milliseconds(300))
            await #expect(
                performing: { try await store.record(of: .standard) }, throws: Self.unavailable("unlock it"))
        }

        @Test func `an endless response is cut off`() async throws {
            let session = try await SecretServiceSession()
            let directory = try TemporaryDirectory()
            var environment = session.environment
            environment["PATH"] = try Self.path(directory, "secret-tool", "exec yes")
            let store = SecretServiceTokenStore(application: .commandLine, environment: environment)
            await #expect(
                performing: { try await store.record(of: .standard) }, throws: Self.unavailable("too long"))
        }

        @Test func `without secret-tool, bus or service the error names what is missing`() async throws {
            let session = try await SecretServiceSession()
            var environment = session.environment
            environment["PATH"] = "/nonexistent"
            let withoutProgram = SecretServiceTokenStore(application: .commandLine, environment: environment)
            await #expect(
                performing: { try await withoutProgram.record(of: .standard) },
                throws: Self.unavailable("secret-tool is not installed"))
            environment = session.environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = nil
            let withoutBus = SecretServiceTokenStore(application: .commandLine, environment: environment)
            await #expect(
                performing: { try await withoutBus.record(of: .standard) },
                throws: Self.unavailable("there is no session bus"))
            session.end()
            let withoutService = SecretServiceTokenStore(application: .commandLine, environment: session.environment)
            await #expect(
                performing: { try await withoutService.record(of: .standard) },
                throws: Self.unavailable("Could not connect"))
        }

        @Test(arguments: ["nonsense", "counterfoil 1 whole !", "counterfoil 1 whole e30", "counterfoil 1 parts 3 a x"])
        func `an item of another program is reported as damaged until it is replaced`(text: String) async throws {
            let session = try await SecretServiceSession()
            let service = try SecretService(environment: session.environment)
            let attributes = SecretService.Attributes(kind: .credentials, of: .commandLine, ["profile": "default"])
            try await service.store(text, as: attributes, label: "x")
            let store = SecretServiceTokenStore(application: .commandLine, environment: session.environment)
            let damaged = TokenStoreError.damaged(location: "the Secret Service (profile default)")
            await #expect(throws: damaged) { try await store.record(of: .standard) }
            #expect(try await store.profiles() == [StoredProfile(.standard, .failure(damaged))])
            #expect(try await service.lookup(attributes) == text)
            let credentials = try EncryptedFileTokenStoreTests.credentials()
            try await store.save(credentials, as: .standard)
            #expect(try await store.credentials(of: .standard) == credentials)
        }

        @Test func `an item of a later version is preserved until it is removed`() async throws {
            let session = try await SecretServiceSession()
            let service = try SecretService(environment: session.environment)
            try await service.store(
                "counterfoil 2 what ever",
                as: SecretService.Attributes(kind: .credentials, of: .commandLine, ["profile": "default"]),
                label: "x")
            let store = SecretServiceTokenStore(application: .commandLine, environment: session.environment)
            await #expect(throws: TokenStoreError.newer(location: "the Secret Service (profile default)")) {
                try await store.record(of: .standard)
            }
            #expect(try await store.remove(.standard))
            #expect(try await store.profiles().isEmpty)
        }

        @Test func `a killed write of parts leaves the previous record`() async throws {
            let session = try await SecretServiceSession()
            let store = SecretServiceTokenStore(application: .commandLine, environment: session.environment)
            let credentials = try EncryptedFileTokenStoreTests.credentials(String(repeating: "x", count: 20_000))
            try await store.save(credentials, as: .standard)
            // A process wrote the first parts of another record, and not the main item that names them.
            let service = try SecretService(environment: session.environment)
            for part in 0..<2 {
                try await service.store(
                    "half",
                    as: SecretService.Attributes(
                        kind: .credentialsPart, of: .commandLine,
                        ["profile": "default", "slot": "b", "part": "\(part)"]),
                    label: "x")
            }
            #expect(try await store.credentials(of: .standard) == credentials)
            let next = try EncryptedFileTokenStoreTests.credentials(String(repeating: "y", count: 30_000))
            try await store.save(next, as: .standard)
            #expect(try await store.credentials(of: .standard) == next)
            try await store.remove(.standard)
            let parts = SecretService.Attributes(kind: .credentialsPart, of: .commandLine, ["profile": "default"])
            #expect(try await service.values(of: "part", in: parts).isEmpty)
        }

        @Test func `the key of a file can be in the Secret Service and is never replaced while that is unavailable`()
            async throws
        {
            let session = try await SecretServiceSession()
            let directory = try TemporaryDirectory()
            let file = directory.file("tokens")
            let store = EncryptedFileTokenStore(file: file, environment: session.environment)
            let credentials = try EncryptedFileTokenStoreTests.credentials()
            try await store.save(credentials, as: .standard)
            #expect(try store.keyLocation() == .secretService)
            #expect(!FileManager.default.fileExists(atPath: file.path + ".key"))
            let before = try Data(contentsOf: file)

            // Another session of the user, without a desktop.
            let elsewhere = EncryptedFileTokenStore(file: file, environment: ["PATH": "/usr/bin:/bin"])
            await #expect(
                performing: { try await elsewhere.record(of: .standard) },
                throws: Self.unavailable("The key of the token store \(file.path) is stored in it"))
            await #expect(
                performing: { try await elsewhere.save(credentials, as: .standard) },
                throws: Self.unavailable("there is no session bus"))
            try await session.lock()
            await #expect(performing: { try await store.record(of: .standard) }, throws: Self.unavailable("locked"))
            await #expect(performing: { try await store.checkWritable(.standard) }, throws: Self.unavailable("locked"))
            #expect(try Data(contentsOf: file) == before)
            #expect(!FileManager.default.fileExists(atPath: file.path + ".key"))
            try await session.unlock()
            #expect(try await store.credentials(of: .standard) == credentials)

            try await SecretService(environment: session.environment)
                .clear(SecretService.Attributes(kind: .fileKey, of: .commandLine))
            await #expect(throws: TokenStoreError.keyMissing(path: file.path, key: "the Secret Service")) {
                try await store.save(credentials, as: .standard)
            }
            #expect(try Data(contentsOf: file) == before)
        }

        @Test func `deleting the last profile deletes the key in the Secret Service`() async throws {
            let session = try await SecretServiceSession()
            let directory = try TemporaryDirectory()
            let store = EncryptedFileTokenStore(file: directory.file("tokens"), environment: session.environment)
            try await store.save(EncryptedFileTokenStoreTests.credentials(), as: .standard)
            let service = try SecretService(environment: session.environment)
            let keys = SecretService.Attributes(kind: .fileKey, of: .commandLine)
            #expect(try await service.values(of: "key", in: keys).count == 1)
            try await store.remove(.standard)
            #expect(try await service.values(of: "key", in: keys).isEmpty)
        }
    }
#endif
