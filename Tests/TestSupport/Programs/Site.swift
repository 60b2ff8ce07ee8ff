package import Foundation

/// An authorization server of a test: a data directory or a database, a port, and the real program.
package struct Site: Sendable {
    /// The place of the store, as the options of a command and its environment.
    package struct Store: Sendable {
        let options: [String]
        let environment: [String: String]

        /// A database, which has its tables already.
        package static func database(_ uri: String, serverKey: String) -> Store {
            Store(options: ["--database", uri], environment: ["COUNTERFOIL_SERVER_KEY": serverKey])
        }
    }

    /// The folder for the files of the test.
    package let folder: TemporaryDirectory
    /// The data directory.
    package let dataDirectory: String
    /// The issuer of the server.
    package let issuer: String
    private let host: String
    private let reserved: ReservedPort
    private let store: Store

    /// The options that name the store.
    package var storeOptions: [String] { store.options }
    /// The environment that the store needs.
    package var storeEnvironment: [String: String] { store.environment }

    /// The port of the server.
    package var port: Int { reserved.number }

    /// The URL of the server without a path.
    package var origin: String { "http://\(host):\(port)" }

    /// Runs `body` with a site on which no server runs yet.
    ///
    /// - Parameters:
    ///   - host: The host of the issuer. Browsers have passkeys for the name `localhost`, and none for an address.
    ///   - path: The path of the issuer.
    ///   - store: The store; nil for a data directory.
    ///   - body: The test.
    package static func make<Result>(
        host: String = "127.0.0.1", path: String = "", on store: Store? = nil, _ body: (Site) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.forPrograms { folder in
            let port = try ReservedPort()
            let site = Site(
                folder: folder, dataDirectory: folder.path("data"), issuer: "http://\(host):\(port.number)\(path)",
                host: host, reserved: port,
                store: store ?? Store(options: ["--data-dir", folder.path("data")], environment: [:]))
            return try await body(site)
        }
    }

    /// Runs `body` with a server that has the user Alice and the client Lightbox, which can request photos.
    package static func run<Result>(
        path: String = "", _ body: (_ site: Site, _ clientID: String) async throws -> Result
    ) async throws -> Result {
        try await make(path: path) { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient()
            return try await site.serving { try await body(site, clientID) }
        }
    }

    /// Runs `body` with a server without users.
    package static func runEmpty<Result>(_ body: (Site) async throws -> Result) async throws -> Result {
        try await make { site in try await site.serving { try await body(site) } }
    }

    /// Runs the server until `body` returns.
    package func serving<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await start().whileRunning(body)
    }

    /// Starts the server and waits until it listens.
    ///
    /// - Parameters:
    ///   - issuer: An issuer other than the URL of the server, as behind a reverse proxy.
    ///   - listen: The addresses to listen on; nil for the port of the site.
    ///   - socket: A listening socket, as systemd passes one.
    ///   - options: Additional `serve` options.
    ///   - environment: The environment of the server.
    package func start(
        issuer: String? = nil, listen: [String]? = nil, passing socket: FileHandle? = nil, options: [String] = [],
        environment: [String: String] = [:], fileSizeLimit: Int? = nil,
        descriptorLimit: Int? = nil, softDescriptorLimit: Int? = nil
    ) async throws -> RunningProgram {
        let arguments =
            ["serve", "--issuer", issuer ?? self.issuer, "--site-name", "Example Photos"]
            + (listen ?? ["127.0.0.1:\(port)"]).flatMap { ["--listen", $0] } + store.options + options
        let environment = store.environment.merging(environment) { _, given in given }
        // A connection of another program can use the port for a moment, so the start is tried three times.
        for isLast in [false, false, true] {
            let server = try RunningProgram(
                .server, arguments, environment: environment, passing: socket, fileSizeLimit: fileSizeLimit,
                descriptorLimit: descriptorLimit, softDescriptorLimit: softDescriptorLimit, in: folder)
            do {
                _ = try await server.said("that it listens") { program in
                    // In the text format and in JSON.
                    ["Counterfoil serves ", "started the server"].contains(where: program.errors.contains) ? true : nil
                }
                return server
            } catch {
                await server.stop()
                if isLast || !"\(error)".contains("Address already in use") { throw error }
            }
        }
        throw Refused(description: "the server was not started")
    }

    /// Runs the server program until it exits.
    package func server(_ arguments: [String], input: String? = nil) async throws -> EndedProgram {
        try await RunningProgram(.server, arguments, input: input, in: folder).ended()
    }

    /// Runs an administration command on the store.
    package func administer(_ arguments: [String], input: String? = nil) async throws -> EndedProgram {
        try await RunningProgram(
            .server, arguments + store.options, environment: store.environment, input: input, in: folder
        ).ended()
    }
}

// MARK: - Setup by the operator

extension Site {
    /// An error: an administration command failed.
    package struct Refused: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Creates an account.
    package func add(_ account: Account) async throws {
        _ = try await succeed(
            [
                "user", "create", account.name, "--email", account.email, "--display-name", account.fullName,
                "--password-stdin",
            ],
            input: account.password + "\n")
    }

    /// Creates a scope.
    package func addScope(_ name: String, _ description: String, options: [String] = []) async throws {
        _ = try await succeed(["scope", "create", name, "--description", description] + options)
    }

    /// Registers a native client and returns its `client_id`.
    package func registerClient(
        _ name: String = "Lightbox",
        redirectURIs: [String] = ["http://127.0.0.1/callback"],
        scopes: [String] = ["openid", "photos.read"],
        options: [String] = []
    ) async throws -> String {
        let created = try await succeed(
            ["app", "create", "--type", "native", "--name", name, "--json"]
                + redirectURIs.flatMap { ["--redirect-uri", $0] } + scopes.flatMap { ["--scope", $0] } + options)
        struct Client: Decodable {
            let client_id: String
        }
        return try JSONDecoder().decode(Client.self, from: Data(created.output.utf8)).client_id
    }

    private func succeed(_ arguments: [String], input: String? = nil) async throws -> EndedProgram {
        let ended = try await administer(arguments, input: input)
        guard ended.status == 0 else {
            throw Refused(description: "\(arguments.prefix(2)) ended with \(ended.status): \(ended.errors)")
        }
        return ended
    }
}
