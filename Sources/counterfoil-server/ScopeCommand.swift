import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer

/// `scope`: the permissions that clients can ask for.
struct ScopeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scope",
        abstract: "The permissions that applications can ask for.",
        subcommands: [ScopeCreate.self, ScopeList.self, ScopeEdit.self, ScopeDelete.self]
    )
}

/// A scope as the command line prints it.
struct ScopeDocument: Encodable {
    private let scope: ScopeDefinition

    init(_ scope: ScopeDefinition) { self.scope = scope }

    private enum CodingKeys: String, CodingKey {
        case scope, description, listed, standard
        case startsTicked = "starts_ticked"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(scope.token.rawValue, forKey: .scope)
        try values.encode(scope.description, forKey: .description)
        try values.encode(isListed, forKey: .listed)
        try values.encode(scope.startsTicked, forKey: .startsTicked)
        try values.encode(scope.token.isStandard, forKey: .standard)
    }

    private var isListed: Bool { scope.isListed || scope.token.isStandard }

    /// The same in one line.
    var line: String {
        [
            scope.token.rawValue, isListed ? "listed" : "unlisted", scope.startsTicked ? "ticked" : "unticked",
            "\(DisplayName(scope.description))",
        ].joined(separator: "  ")
    }

    /// Prints the scope.
    func print(json: Bool) throws {
        if json { return try Output.json(self) }
        Output.line(line)
    }
}

/// The properties of a scope that commands set.
struct ScopeOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Whether the metadata of the server list it (scopes_supported). Those of OpenID Connect always are.")
    var listed: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether its box on the consent page starts ticked where it is optional. In the EU that is no consent.")
    var startsTicked: Bool?

    /// Writes what is given into a definition.
    func write(into scope: inout ScopeDefinition) {
        if let listed { scope.isListed = listed }
        if let startsTicked { scope.startsTicked = startsTicked }
    }

    static func check(description: String) throws {
        guard ScopeDefinition.descriptionLength.contains(description.count) else {
            throw ValidationError("The description of a scope is 1 to 200 characters.")
        }
    }

    static func check(name: String) throws {
        guard Scope.Token(name) != nil else {
            throw ValidationError(
                "The name of a scope is 1 to 255 visible ASCII characters without spaces, \" and \\.")
        }
    }
}

extension DataDirectory {
    /// The definition of a scope.
    func scope(_ name: String) async throws -> ScopeDefinition {
        guard let scope = try await store.scopes().first(where: { $0.token.rawValue == name }) else {
            throw CommandFailure.noScope(name)
        }
        return scope
    }
}

extension CommandFailure {
    /// There is no scope of a name.
    static func noScope(_ name: String) -> CommandFailure {
        .refused("there is no scope named \(DisplayName(name)); see: counterfoil-server scope list")
    }
}
