#if os(Linux)
    import CounterfoilClient
    import CounterfoilClientTesting
    @_spi(Counterfoil) import CounterfoilProtocol
    import Foundation
    import TestSupport
    import Testing

    /// Tests of files of another user in the home directory, as a program that `sudo` runs leaves them there.
    @Suite(.timeLimit(.minutes(5)))
    struct OtherUsersFilesTests {
        /// A user without rights, as whom root runs the program.
        private enum OtherUser {
            static let number: uid_t = 65534

            static func run(
                _ arguments: String..., environment: [String: String],
                onLine: @escaping @Sendable (String) -> Void = { _ in }
            ) async throws -> Shell.Outcome {
                try await Shell.run(
                    "/usr/bin/setpriv",
                    ["--reuid=\(number)", "--regid=\(number)", "--clear-groups", try Product.client.executable.path]
                        + arguments,
                    environment: environment, onLine: onLine)
            }

            /// Returns true if this process may run the program as another user, who can read it.
            @Sendable static func canRun() async -> Bool {
                guard geteuid() == 0 else { return false }
                return (try? await run("--version", environment: [:]))?.status == 0
            }

            static let name: String = getpwuid(number).map { String(cString: $0.pointee.pw_name) } ?? ""
            static let home: String = getpwuid(number).map { String(cString: $0.pointee.pw_dir) } ?? ""
        }

        private static func give(_ directory: TemporaryDirectory, to user: uid_t) {
            #expect(chown(directory.url.path, user, user) == 0)
        }

        @Test(.enabled("only root can run it as another user") { await OtherUser.canRun() })
        func `files that root left in the home directory are named, with their owner and the way to get them back`()
            async throws
        {
            let directory = try TemporaryDirectory()
            Self.give(directory, to: OtherUser.number)
            let home = directory.url.path
            try await ScriptedAuthorizationServer.run { server in
                #expect(try await CommandLineTool.signIn(at: server, home: directory.url).status == 0)
                func remedy(_ folder: String) -> String {
                    "\(home)/\(folder) belongs to root, not to \(OtherUser.name); if it is yours, run: "
                        + "sudo chown -R \(OtherUser.name) \(home)/\(folder)\n"
                }
                let message =
                    "the configuration file \(home)/.config/counterfoil/config.json cannot be read: \(remedy(".config"))"
                for command in ["token", "status", "login"] {
                    let outcome = try await OtherUser.run(command, environment: ["HOME": home])
                    #expect(outcome.status == 5)
                    #expect(outcome.errors == "Error: \(message)")
                }
                let json = try await OtherUser.run("status", "--json", environment: ["HOME": home])
                #expect(json.errors.hasPrefix(#"{"error":"unsafe_answer","exit_code":5,"message":"the configuration"#))

                #expect(try await Shell.run("chown -R \(OtherUser.number) \(home)/.config").status == 0)
                for arguments in [["token"], ["login"]] {
                    let outcome = try await OtherUser.run(arguments[0], environment: ["HOME": home])
                    #expect(outcome.status == 5)
                    #expect(
                        outcome.errors.hasSuffix("Error: the token store is not private: \(remedy(".local"))"),
                        "\(outcome.errors)")
                    #expect(!outcome.errors.contains("Open: "))
                }
                #expect(try await Shell.run("chown -R \(OtherUser.number) \(home)/.local").status == 0)
                let token = try await OtherUser.run("token", environment: ["HOME": home])
                #expect(token.status == 0, "\(token.errors)")

                // And the other way round: root does not use the files of a user.
                let root = try await CommandLineTool.run(["token"], home: directory.url)
                #expect(root.status == 5)
                #expect(
                    root.errors.contains(
                        "belongs to \(OtherUser.name), not to root; run this program as that user, without sudo"),
                    "\(root.errors)")
            }
        }

        @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
        func `a program that sudo runs creates no files of root in the home directory of its user`() async throws {
            try await ScriptedAuthorizationServer.run { server in
                for owner in [OtherUser.number, 0] {
                    let directory = try TemporaryDirectory()
                    Self.give(directory, to: owner)
                    let environment = ["SUDO_UID": "\(OtherUser.number)"]
                    let login = try await CommandLineTool.signIn(
                        at: server, home: directory.url, environment: environment)
                    guard owner != 0 else {
                        #expect(login.status == 0, "\(login.errors)")
                        continue
                    }
                    #expect(login.status == 64)
                    #expect(login.errors.contains("run it without sudo, or use sudo -H"), "\(login.errors)")
                    let use = try await CommandLineTool.run(
                        ["use", "work"], home: directory.url, environment: environment)
                    #expect(use.status == 64)
                    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [])
                }
            }
        }

        @Test(.enabled("only root can run it as another user") { await OtherUser.canRun() })
        func `without HOME nothing is forgotten silently`() async throws {
            let directory = try TemporaryDirectory()
            Self.give(directory, to: OtherUser.number)
            let visits = Mutex<[Task<Void, Never>]>([])
            let visit: @Sendable (String) -> Void = { line in
                guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
                visits.withLock { $0.append(Task { _ = await ScriptedBrowser().open(url) }) }
            }
            try await ScriptedAuthorizationServer.run { server in
                for environment in [[:], ["HOME": ""], ["HOME": "relative"]] as [[String: String]] {
                    let login = try await OtherUser.run(
                        "login", server.issuer.rawValue, "--client-id", "lightbox", "--browser", "print", "--store",
                        "file:\(directory.path("tokens"))", environment: environment, onLine: visit)
                    #expect(login.status == 0, "\(login.errors)")
                    #expect(
                        login.errors.contains(
                            "The options were not stored for the next sign-in: the configuration file \(OtherUser.home)/.config/"
                        ),
                        "\(login.errors)")
                    let standard = try await OtherUser.run(
                        "login", server.issuer.rawValue, "--client-id", "lightbox", "--browser", "print",
                        environment: environment, onLine: visit)
                    #expect(standard.status == 6, "\(standard.errors)")
                    #expect(standard.errors.contains("the token store \(OtherUser.home)"), "\(standard.errors)")
                    #expect(!standard.errors.contains("Open: "))
                }
            }
        }
    }
#endif
