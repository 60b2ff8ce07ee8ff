#if os(Linux)
    import CounterfoilClient
    import CounterfoilClientTesting
    import CounterfoilProtocol
    import Foundation
    import TestSupport
    import Testing

    /// Tests of a token store that cannot be used before, while and after the user signs in.
    @Suite(.timeLimit(.minutes(5)))
    struct UnusableStoreTests {
        /// A computer with a user who is signed in, and a server with that sign-in.
        private struct Stage: Sendable {
            let server: ScriptedAuthorizationServer
            let system: FaultySystem
            let home: URL

            var folder: URL { home.appending(path: ".local/share/counterfoil") }
            var tokens: URL { folder.appending(path: "tokens") }
            var key: URL { folder.appending(path: "tokens.key") }

            func run(_ arguments: String...) async throws -> CommandLineTool.Outcome {
                try await CommandLineTool.run(arguments, home: home, environment: system.environment)
            }

            func login(
                _ arguments: String...,
                visit: @escaping @Sendable (BrowserURL) async throws -> Void = { _ = await ScriptedBrowser().open($0) }
            ) async throws -> CommandLineTool.Outcome {
                try await CommandLineTool.login(
                    [server.issuer.rawValue] + arguments, home: home, environment: system.environment, visit: visit)
            }

            func setMode(_ mode: Int, of url: URL) throws {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
            }

            func replace(_ url: URL, by bytes: Data) throws {
                try bytes.write(to: url)
                try setMode(0o600, of: url)
            }
        }

        private static func run(
            _ script: ServerScript = ServerScript(.noPushedRequests), signsIn: Bool = true,
            _ body: @escaping @Sendable (Stage) async throws -> Void
        ) async throws {
            let directory = try TemporaryDirectory()
            let system = try await FaultySystem(in: directory)
            try await ScriptedAuthorizationServer.run(script) { server in
                let stage = Stage(server: server, system: system, home: directory.file("home"))
                try FileManager.default.createDirectory(at: stage.home, withIntermediateDirectories: true)
                if signsIn {
                    let login = try await stage.login("--browser", "print")
                    #expect(login.status == 0, "\(login.errors)")
                    server.forgetRequests()
                }
                try await body(stage)
            }
        }

        /// A change that makes the store unusable, with the exit code and the words of the error.
        private struct Damage: Sendable {
            let name: String
            let status: Int32
            let words: String
            let make: @Sendable (Stage) throws -> Void

            init(_ name: String, _ status: Int32, _ words: String, _ make: @escaping @Sendable (Stage) throws -> Void) {
                (self.name, self.status, self.words, self.make) = (name, status, words, make)
            }
        }

        private static let damages = [
            Damage("a file that others can read", 5, "is accessible to other users; run: chmod 600 ") {
                try $0.setMode(0o644, of: $0.tokens)
            },
            Damage("a key that others can read", 5, "is accessible to other users; run: chmod 600 ") {
                try $0.setMode(0o640, of: $0.key)
            },
            Damage("a folder that others can write to", 5, "is writable by other users; run: chmod go-w ") {
                try $0.setMode(0o777, of: $0.folder)
            },
            Damage("a link", 5, "is a symbolic link; replace it with a file") {
                try FileManager.default.moveItem(at: $0.tokens, to: $0.home.appending(path: "elsewhere"))
                try FileManager.default.createSymbolicLink(
                    at: $0.tokens, withDestinationURL: $0.home.appending(path: "elsewhere"))
            },
            Damage("a folder in place of the file", 5, "is not a regular file") {
                try FileManager.default.removeItem(at: $0.tokens)
                try FileManager.default.createDirectory(at: $0.tokens, withIntermediateDirectories: false)
            },
            Damage("a missing key", 5, "restore it, or delete ") { try FileManager.default.removeItem(at: $0.key) },
            Damage("another key", 5, "is damaged or does not match its key; delete it and its key, and sign in again") {
                try $0.replace($0.key, by: Data(repeating: 7, count: 32))
            },
            Damage("a damaged file", 5, "is damaged or does not match its key; delete it and its key") {
                var bytes = try Data(contentsOf: $0.tokens)
                bytes[bytes.count - 1] ^= 1
                try $0.replace($0.tokens, by: bytes)
            },
            Damage("a file of a later version", 5, "was written by a later version of this program") {
                try $0.replace($0.tokens, by: Data("counterfoil tokens 9 key-file\n".utf8))
            },
            Damage("a file in place of a folder", 6, "cannot be used: Not a directory") {
                try FileManager.default.removeItem(at: $0.home.appending(path: ".local"))
                try Data().write(to: $0.home.appending(path: ".local"))
            },
            Damage("a full disk", 6, "cannot be used: No space left on device") {
                try $0.system.fail(.synchronizeFile, with: ENOSPC)
            },
            Damage("a read-only file system", 6, "cannot be used: Read-only file system") {
                try $0.system.fail(.rename, with: EROFS)
            },
            Damage("a file that cannot be replaced", 6, "cannot be used: Device or resource busy") {
                try $0.system.fail(.rename, with: EBUSY)
            },
            Damage("a file system without locks", 6, "cannot be used: No locks available") {
                try $0.system.fail(.lock, with: ENOLCK)
            },
            Damage("a folder that cannot be synchronized", 6, "cannot be used: Input/output error") {
                try $0.system.fail(.synchronizeFolder, with: EIO)
            },
        ]

        /// Returns the same computer with a copy of the home directory, for a change that is not undone.
        private static func copy(of stage: Stage) throws -> Stage {
            let home = stage.home.deletingLastPathComponent().appending(path: UUID().uuidString)
            try FileManager.default.copyItem(at: stage.home, to: home)
            return Stage(server: stage.server, system: stage.system, home: home)
        }

        @Test func `login reports a store that cannot be written before the browser opens`() async throws {
            try await Self.run { stage in
                for damage in Self.damages {
                    let damaged = try Self.copy(of: stage)
                    try damage.make(damaged)
                    let login = try await damaged.login("--browser", "print")
                    #expect(login.status == damage.status, "\(damage.name): \(login.errors)")
                    #expect(login.errors.contains(damage.words), "\(damage.name): \(login.errors)")
                    #expect(!login.errors.contains("Open: "), "\(damage.name)")
                    try stage.system.mend()
                }
                #expect(stage.server.requests.isEmpty)
                // The store is as it was before the attempts.
                #expect(try await stage.run("token").status == 0)
            }
        }

        @Test func `every kind of login tries the store first`() async throws {
            try await Self.run(signsIn: false) { stage in
                try stage.system.fail(.synchronizeFile, with: ENOSPC)
                for arguments in [
                    ["--browser", "paste"], ["--device"],
                    ["--grant", "client_credentials", "--client-secret-file", "/nonexistent"],
                    ["--browser", "print", "--store", "secret-service"],
                ] {
                    let login = try await CommandLineTool.login(
                        [stage.server.issuer.rawValue] + arguments, home: stage.home,
                        environment: stage.system.environment)
                    #expect(login.status == 6, "\(arguments): \(login.errors)")
                    #expect(login.errors.contains(" cannot be used: "), "\(arguments): \(login.errors)")
                    #expect(!login.errors.contains("Open: "), "\(arguments)")
                    #expect(!login.errors.contains("Code: "), "\(arguments)")
                }
                #expect(stage.server.requests.isEmpty)
            }
        }

        @Test func `what cannot be stored after the sign-in is revoked`() async throws {
            try await Self.run { stage in
                for damage in Self.damages {
                    let damaged = try Self.copy(of: stage)
                    stage.server.forgetRequests()
                    let login = try await damaged.login("--browser", "print") { url in
                        try damage.make(damaged)
                        _ = await ScriptedBrowser().open(url)
                    }
                    #expect(login.status == damage.status, "\(damage.name): \(login.errors)")
                    #expect(
                        login.errors.contains(
                            "Error: the token could not be stored after the sign-in, and was revoked at the server: "),
                        "\(damage.name): \(login.errors)")
                    #expect(login.errors.contains(damage.words), "\(damage.name): \(login.errors)")
                    let revoked = stage.server.requests(to: .revocation).map { $0.form["token"] }
                    #expect(revoked.contains(stage.server.refreshTokens.last), "\(damage.name)")
                    #expect(revoked.contains(stage.server.accessTokens.last), "\(damage.name)")
                    try stage.system.mend()
                }
                #expect(try await stage.run("token").status == 0)
            }
        }

        @Test func `a device sign-in that cannot be stored is revoked, too`() async throws {
            try await Self.run { stage in
                let login = try await stage.login("--device") { _ in
                    try stage.system.fail(.synchronizeFile, with: ENOSPC)
                }
                #expect(login.status == 6, "\(login.errors)")
                let revoked = stage.server.requests(to: .revocation).map { $0.form["token"] }
                #expect(revoked.contains(stage.server.refreshTokens.last))
            }
        }

        @Test func `login names what stays valid at a server that revokes nothing`() async throws {
            var script = ServerScript(.noPushedRequests)
            script.metadata.absent.insert(.revocation)
            try await Self.run(script) { stage in
                let login = try await stage.login("--browser", "print") { url in
                    try stage.system.fail(.synchronizeFile, with: ENOSPC)
                    _ = await ScriptedBrowser().open(url)
                }
                #expect(login.status == 6, "\(login.errors)")
                #expect(login.errors.contains("It was not revoked at the server: the access token expires at 2"))
                #expect(
                    login.errors.contains(
                        "and the refresh token stays valid at the server until it expires or you disconnect the app"),
                    "\(login.errors)")
            }
        }

        @Test func `a folder that is removed during the sign-in is created again`() async throws {
            try await Self.run(signsIn: false) { stage in
                let login = try await stage.login("--browser", "print") { url in
                    try FileManager.default.removeItem(at: stage.home.appending(path: ".local"))
                    _ = await ScriptedBrowser().open(url)
                }
                #expect(login.status == 0, "\(login.errors)")
                #expect(try await stage.run("token").status == 0)
            }
        }

        @Test func `a sign-in that does not happen leaves no tokens, no key and no choice of a store`() async throws {
            try await Self.run(ServerScript(.noPushedRequests, .deniesAccess), signsIn: false) { stage in
                for _ in 0..<2 {
                    let login = try await stage.login("--browser", "print")
                    #expect(login.status == 7, "\(login.errors)")
                    #expect(!login.errors.contains("it already contains tokens"), "\(login.errors)")
                    let left = try FileManager.default.contentsOfDirectory(atPath: stage.folder.path)
                    #expect(left == ["tokens.lock"])
                }
            }
        }

        // Some file systems cannot synchronize folders (fsync(2)).
        @Test func `a file system that cannot synchronize folders is usable`() async throws {
            try await Self.run(signsIn: false) { stage in
                try stage.system.fail(.synchronizeFolder, with: EINVAL)
                let login = try await stage.login("--browser", "print")
                #expect(login.status == 0, "\(login.errors)")
                #expect(try await stage.run("token").status == 0)
            }
        }

        // MARK: The first call

        @Test func `the first call sends nothing if its API cannot be stored`() async throws {
            try await Self.run { stage in
                try stage.system.fail(.synchronizeFile, with: ENOSPC)
                let call = try await stage.run("call", "--data", "order=1", stage.server.url(of: .api))
                #expect(call.status == 6, "\(call.errors)")
                #expect(call.errors.contains("No space left on device"), "\(call.errors)")
                #expect(stage.server.requests.isEmpty)
                try stage.system.mend()
                let again = try await stage.run("call", "--data", "order=1", stage.server.url(of: .api))
                #expect(again.status == 0, "\(again.errors)")
                #expect(stage.server.requests(to: .api).count == 1)
                // Nothing has to be stored for a later call.
                try stage.system.fail(.synchronizeFile, with: ENOSPC)
                #expect(try await stage.run("call", stage.server.url(of: .api)).status == 0)
            }
        }

        @Test func `the answer to the first call is printed although its API cannot be stored any more`() async throws {
            try await Self.run { stage in
                // The check before the call succeeds.
                try stage.system.fail(.synchronizeFile, with: ENOSPC, after: 2)
                let call = try await stage.run("call", "--data", "order=1", stage.server.url(of: .api))
                #expect(call.status == 0, "\(call.errors)")
                #expect(call.output == "{\"photos\":[]}")
                #expect(
                    call.errors.hasPrefix(
                        "The API could not be stored as the one that the token is for: the token store "),
                    "\(call.errors)")
                #expect(stage.server.requests(to: .api).count == 1)
            }
        }

        @Test func `call --step-up tries the store before the browser opens`() async throws {
            var script = ServerScript(.noPushedRequests)
            script.api.requiredScope = "photos.write"
            try await Self.run(script) { stage in
                let login = try await stage.login(
                    "--browser", "print", "--api", EndpointURL(stage.server.url(of: .api)).origin)
                #expect(login.status == 0, "\(login.errors)")
                stage.server.forgetRequests()
                try stage.system.fail(.synchronizeFile, with: ENOSPC)
                let call = try await stage.run("call", "--step-up", stage.server.url(of: .api))
                #expect(call.status == 6, "\(call.errors)")
                #expect(!call.errors.contains("Open: "))
                #expect(stage.server.requests(to: .token).isEmpty)
            }
        }

        // MARK: Signing out

        @Test func `logout says what stays valid if the store cannot be read`() async throws {
            try await Self.run { stage in
                for name in ["a missing key", "another key", "a damaged file", "a file of a later version"] {
                    let damage = try #require(Self.damages.first { $0.name == name })
                    let damaged = try Self.copy(of: stage)
                    try damage.make(damaged)
                    let before = try Data(contentsOf: damaged.tokens)
                    let logout = try await damaged.run("logout")
                    #expect(logout.status == 5, "\(name): \(logout.errors)")
                    #expect(logout.errors.contains(damage.words), "\(name): \(logout.errors)")
                    #expect(
                        logout.errors.contains(
                            ". The refresh token in it stays valid at the server until it expires or you disconnect the app"
                                + " in your account at \(stage.server.issuer)\n"), "\(name): \(logout.errors)")
                    // The key may come back, and other profiles are in the file.
                    #expect(try Data(contentsOf: damaged.tokens) == before)
                }
            }
        }
    }
#endif
