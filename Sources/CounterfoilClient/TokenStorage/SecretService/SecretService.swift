#if os(Linux)
    import CounterfoilProtocol
    import CounterfoilPlatform

    /// The Secret Service of a Linux desktop, such as GNOME Keyring, KWallet or KeePassXC.
    ///
    /// The freedesktop.org Secret Service API is called through the program `secret-tool`. Secrets are passed on
    /// the standard input of the program. Its arguments contain only attributes, which are not secret. No shell
    /// is involved.
    struct SecretService: Sendable {
        /// The name of the service in messages.
        static let name = "the Secret Service"

        /// The maximum length of a secret, in bytes.
        ///
        /// `secret-tool` silently truncates a secret after 8191 bytes.
        static let byteLimit = 8000

        private let tool: String
        private let environment: [String: String]
        private let timeout: Duration

        /// The attributes by which an item is found.
        ///
        /// The service replaces an existing item if that item has all attributes of the new one, even if it has more.
        /// Every item therefore has the attributes `application` and `kind`, so that it cannot replace an item of
        /// another app or of another kind.
        struct Attributes: Sendable {
            enum Kind: String {
                case credentials
                case credentialsPart = "credentials-part"
                case fileKey = "file-key"
                case clientRegistration = "client-registration"
                /// An item that shows that items can be stored.
                case probe
            }

            fileprivate let arguments: [String]

            init(
                kind: Kind, of application: ApplicationIdentifier, _ others: KeyValuePairs<String, String> = [:]
            ) {
                // `secret-tool` parses no argument after `--` as an option.
                arguments =
                    ["--", "application", application.rawValue, "kind", kind.rawValue]
                    + others.flatMap { [$0.key, $0.value] }
            }
        }

        /// Finds `secret-tool` and the session bus by the variables `PATH`, `DBUS_SESSION_BUS_ADDRESS` and
        /// `XDG_RUNTIME_DIR` of an environment.
        ///
        /// `timeout` is the time limit of each call. If the collection is locked, the user must unlock it within
        /// this time.
        init(environment: [String: String], timeout: Duration = .seconds(30)) throws(TokenStoreError) {
            guard let tool = Self.program("secret-tool", in: environment) else {
                throw .unavailable(
                    location: Self.name, reason: "secret-tool is not installed (Debian and Ubuntu: libsecret-tools)")
            }
            // Without the address of the session bus, secret-tool would start a new bus, which has no stored secrets.
            guard let address = Self.busAddress(in: environment) else {
                throw .unavailable(
                    location: Self.name,
                    reason: "there is no session bus (neither $DBUS_SESSION_BUS_ADDRESS nor $XDG_RUNTIME_DIR/bus)")
            }
            self.tool = tool
            self.timeout = timeout
            var environment = environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = address
            // With this variable, secret-tool could write debug messages to standard output, between parts of the
            // secret.
            environment["G_MESSAGES_DEBUG"] = nil
            environment["LC_ALL"] = "C.UTF-8"
            self.environment = environment
        }

        /// Stores a secret and replaces an earlier one with the same attributes.
        func store(_ secret: String, as attributes: Attributes, label: String) async throws(TokenStoreError) {
            guard secret.utf8.count <= Self.byteLimit else {
                throw .failed(path: Self.name, reason: "a secret is longer than \(Self.byteLimit) bytes")
            }
            let outcome = try await run(
                ["store", "--label=\(label)"] + attributes.arguments, input: Array(secret.utf8))
            guard outcome.status == 0 else { throw Self.refusal(outcome) }
        }

        /// Returns the secret with these attributes, or nil if there is none.
        func lookup(_ attributes: Attributes) async throws(TokenStoreError) -> String? {
            let outcome = try await run(["lookup"] + attributes.arguments)
            if outcome.status == 0 { return String(decoding: outcome.output, as: UTF8.self) }
            guard outcome.errors.isEmpty, outcome.status == 1 else { throw Self.refusal(outcome) }
            // The lookup fails in the same way for a missing item and for a locked item. A search tells them apart,
            // because it finds a locked item.
            guard try await search(attributes).count == 0 else { throw Self.locked }
            return nil
        }

        /// Deletes every secret whose attributes include these.
        func clear(_ attributes: Attributes) async throws(TokenStoreError) {
            let outcome = try await run(["clear"] + attributes.arguments)
            guard outcome.status != 0 else { return }
            guard outcome.errors.isEmpty, try await search(attributes).count == 0 else { throw Self.refusal(outcome) }
        }

        /// Returns the values of one attribute in all items whose attributes include `attributes`.
        func values(of name: String, in attributes: Attributes) async throws(TokenStoreError) -> Set<String> {
            let found = try await search(attributes)
            let mark = "attribute.\(name) = "
            let values = found.lines.filter { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
            // For items of a locked collection, the search shows only hashes of the attributes.
            guard values.count == found.count else { throw Self.locked }
            return Set(values)
        }

        /// The result of a check that the service answers and its default collection is unlocked.
        enum Readiness: Sendable, Hashable {
            case ready
            case notReady(String)
        }

        /// Checks that the service answers within a time limit and its collection is unlocked, without a prompt.
        func readiness(within timeout: Duration = .seconds(2)) async -> Readiness {
            let collection = ["/org/freedesktop/secrets/aliases/default"]
            let property = ["org.freedesktop.Secret.Collection", "Locked"]
            let bus = "org.freedesktop.secrets"
            // `ProgramRun` enforces `timeout`. The limit of dbus-send is twice as long, so `timeout` expires first.
            let milliseconds = Int(timeout * 2 / .milliseconds(1))
            let questions = [
                (
                    "dbus-send",
                    ["--session", "--print-reply", "--reply-timeout=\(milliseconds)", "--dest=\(bus)"] + collection
                        + ["org.freedesktop.DBus.Properties.Get"] + property.map { "string:\($0)" }
                ),
                ("busctl", ["--user", "get-property", bus] + collection + property),
            ]
            for (name, arguments) in questions {
                guard let program = Self.program(name, in: environment) else { continue }
                let run = ProgramRun(path: program, arguments: arguments, environment: environment, timeout: timeout)
                let outcome: ProgramRun.Outcome
                do { outcome = try await run.outcome() } catch {
                    return .notReady("it did not respond within \(timeout / .seconds(1)) s")
                }
                let words = String(decoding: outcome.output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
                guard outcome.status == 0 else {
                    return .notReady("it is not running, or it has no default collection")
                }
                switch words.last {
                case "false": return .ready
                case "true": return .notReady("its collection is locked")
                default: return .notReady("its response is invalid")
                }
            }
            return .notReady("neither dbus-send nor busctl is installed")
        }

        /// Searches for items; returns their number and every line of output about them.
        ///
        /// A search causes no prompt. Depending on its version, secret-tool writes attributes to standard output or
        /// to standard error. The output also contains the secrets. Each secret of this client is a single line, so
        /// none of them can contain a line that looks like an attribute.
        private func search(_ attributes: Attributes) async throws(TokenStoreError) -> (count: Int, lines: [Substring])
        {
            let outcome = try await run(["search", "--all"] + attributes.arguments, byteLimit: 4 * 1024 * 1024)
            guard outcome.status == 0 || outcome.errors.isEmpty else { throw Self.refusal(outcome) }
            let lines = [outcome.output, outcome.errors]
                .flatMap { String(decoding: $0, as: UTF8.self).split(separator: "\n").map { Substring($0) } }
            return (lines.count { $0.hasPrefix("[/") }, lines)
        }

        private func run(
            _ arguments: [String], input: [UInt8] = [], byteLimit: Int = 64 * 1024
        ) async throws(TokenStoreError) -> ProgramRun.Outcome {
            let run = ProgramRun(
                path: tool, arguments: arguments, environment: environment, input: input, byteLimit: byteLimit,
                timeout: timeout)
            do throws(ProgramRun.Failure) { return try await run.outcome() } catch {
                switch error {
                case .cannotStart: throw .unavailable(location: Self.name, reason: "\(tool) cannot be started")
                case .timedOut:
                    throw .unavailable(
                        location: Self.name,
                        reason:
                            "it did not respond within \(timeout / .seconds(1)) s; if it shows a prompt, unlock it"
                    )
                case .tooLong: throw .unavailable(location: Self.name, reason: "its response is too long")
                }
            }
        }

        private static var locked: TokenStoreError {
            .unavailable(
                location: name, reason: "its collection is locked; unlock it, for example by signing in to the desktop")
        }

        /// Returns the error for a failed call, with the error output of secret-tool in one line.
        private static func refusal(_ outcome: ProgramRun.Outcome) -> TokenStoreError {
            let words = String(decoding: outcome.errors.prefix(400), as: UTF8.self)
                .split(whereSeparator: \.isNewline).joined(separator: " ").strippingControlCharacters
            return .unavailable(location: name, reason: words.isEmpty ? "it reported no reason" : words)
        }

        /// Finds a program in `PATH`.
        private static func program(_ name: String, in environment: [String: String]) -> String? {
            (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").filter { $0.hasPrefix("/") }
                .map { "\($0)/\(name)" }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }

        private static func busAddress(in environment: [String: String]) -> String? {
            if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
            guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
            let socket = "\(folder)/bus"
            return FileManager.default.fileExists(atPath: socket) ? "unix:path=\(socket)" : nil
        }
    }
#endif
