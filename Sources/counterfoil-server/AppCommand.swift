import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilTokens
import Foundation

/// `app`: the applications that may ask people to sign in.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "The applications that may ask people to sign in.",
        subcommands: [AppCreate.self, List.self, Show.self]
    )

    /// `app list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the applications, oldest first.",
            discussion: "Example:\n  counterfoil-server app list --data-dir ./data"
        )

        @OptionGroup var options: AdministrationOptions

        func run() async throws {
            try await options.withDirectory(creating: false) { directory in
                let clients = try await directory.store.clients()
                if options.json { return try Output.json(clients.map(ApplicationDocument.init)) }
                if clients.isEmpty {
                    return Output.line("No application is registered. See: counterfoil-server app create --help")
                }
                for client in clients { Output.line("\(client.id)  \(client.type.rawValue)  \(client.displayName)") }
            }
        }
    }

    /// `app show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what is registered of an application.",
            discussion: "Example:\n  counterfoil-server app show CLIENT_ID --data-dir ./data"
        )

        @Argument(help: "The client_id.")
        var clientID: String

        @OptionGroup var options: AdministrationOptions

        func run() async throws {
            try await options.withDirectory(creating: false) { directory in
                guard let id = ClientIdentifier(clientID), let client = try await directory.store.client(id) else {
                    throw CommandFailure.refused("there is no application with the client_id \(clientID.prefix(100))")
                }
                if options.json { return try Output.json(ApplicationDocument(client)) }
                Output.line(ApplicationDocument(client).words)
            }
        }
    }
}

/// `app create`.
struct AppCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Register an application.",
        discussion: """
            A native application gets no secret: nothing that is in every copy of a program is one. This version registers \
            native applications only.

            A redirect URI is one of three kinds: http://127.0.0.1/callback (a port of the device; whichever port the \
            application opens matches), com.example.app:/callback (a scheme of the application), \
            https://app.example.com/callback (an address that it has claimed).

            Example:
              counterfoil-server app create --type native --name Lightbox \\
                --redirect-uri http://127.0.0.1/callback \\
                --scope openid --scope photos.read --data-dir ./data
            """
    )

    @Option(name: .long, help: "What it is: native.")
    var type: String

    @Option(name: .long, help: "The name that people read.")
    var name: String

    @Option(name: .long, help: "Who publishes it, as people read it.")
    var publisher: String?

    @Option(name: .customLong("redirect-uri"), help: "Where answers may go; repeat for more than one.")
    var redirectURIs: [String] = []

    @Option(name: .customLong("scope"), help: "A scope that it may ask for; repeat for more than one.")
    var scopes: [String] = []

    @Option(name: .customLong("require-state"), help: "Whether a request without state is refused: true or false.")
    var requireState: String = "true"

    @Option(
        name: .customLong("id-token-signed-response-alg"), help: "What signs its ID tokens: ES256 or RS256.")
    var idTokenAlgorithm: String = SigningAlgorithm.es256.rawValue

    @Flag(name: .long, help: "It belongs to the owner of this server: people are not asked for consent.")
    var firstParty = false

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard type == ClientType.native.rawValue else {
            throw ValidationError("This version registers applications of the type native only, not \(type).")
        }
        guard (1...100).contains(name.trimmingCharacters(in: .whitespaces).count) else {
            throw ValidationError("The name of an application is 1 to 100 characters.")
        }
        guard !redirectURIs.isEmpty else {
            throw ValidationError("A native application needs at least one --redirect-uri.")
        }
        guard redirectURIs.count <= 20 else { throw ValidationError("An application has at most 20 redirect URIs.") }
        guard ["true", "false"].contains(requireState) else {
            throw ValidationError("--require-state is true or false.")
        }
        guard SigningAlgorithm(rawValue: idTokenAlgorithm).map(KeyRing.algorithms.contains) ?? false else {
            throw ValidationError("--id-token-signed-response-alg is ES256 or RS256.")
        }
        for text in scopes where Scope.Token(text) == nil {
            throw ValidationError("\(text) cannot be the name of a scope.")
        }
    }

    func run() async throws {
        try await options.withDirectory { directory in
            let client = RegisteredClient(
                id: ClientIdentifier(),
                type: .native,
                name: name.trimmingCharacters(in: .whitespaces),
                publisher: publisher.map { String($0.prefix(100)) },
                redirectURIs: try checkedRedirectURIs(issuer: directory.issuer),
                scope: Scope(scopes.compactMap { Scope.Token($0) }),
                isFirstParty: firstParty,
                requiresState: requireState == "true",
                idTokenAlgorithm: SigningAlgorithm(rawValue: idTokenAlgorithm) ?? .es256,
                createdAt: Date()
            )
            switch try await directory.store.addClient(client) {
            case .added:
                if options.json { return try Output.json(ApplicationDocument(client)) }
                Output.line(ApplicationDocument(client).words)
            case .identifierTaken:
                throw CommandFailure.mayPass("the new client_id was taken; try again")
            case .unknownScopes(let unknown):
                throw CommandFailure.refused(
                    "there is no scope named \(unknown); make it first with: counterfoil-server scope create")
            }
        }
    }

    private func checkedRedirectURIs(issuer: Issuer?) throws -> [RedirectURI] {
        try redirectURIs.map { text in
            do {
                return try RedirectURIRegistration.check(text, issuer: issuer)
            } catch {
                throw CommandFailure.refused("the redirect URI \(text.prefix(200)) is refused: \(error)")
            }
        }
    }
}
