import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer

/// `scope`: the scopes that clients can request.
struct ScopeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scope",
        abstract: "Manage the scopes that apps can request.",
        subcommands: [ScopeCreate.self, ScopeList.self, ScopeEdit.self, ScopeDelete.self]
    )
}

/// A scope in the output of commands.
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

    /// The scope as one line of text.
    var line: String {
        [
            scope.token.rawValue, isListed ? "listed" : "unlisted", scope.startsTicked ? "ticked" : "unticked",
            "\(DisplayName(scope.description))",
        ].joined(separator: "  ")
    }

    func print(json: Bool) throws {
        if json { return try Output.json(self) }
        Output.line(line)
    }
}

/// The options for the properties of a scope.
struct ScopeOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Whether the server metadata lists it in scopes_supported. Scopes of OpenID Connect are always listed.")
    var listed: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether its checkbox is initially ticked where it is optional. EU law does not accept that as consent.")
    var startsTicked: Bool?

    /// Writes the given options into a definition.
    func write(into scope: inout ScopeDefinition) {
        if let listed { scope.isListed = listed }
        if let startsTicked { scope.startsTicked = startsTicked }
    }

    static func check(description: String) throws {
        guard ScopeDefinition.descriptionLength.contains(description.count) else {
            throw ValidationError("The description of a scope must be 1 to 200 characters.")
        }
    }

    static func check(name: String) throws {
        guard Scope.Token(name) != nil else {
            throw ValidationError(
                "The name of a scope must be 1 to 255 visible ASCII characters, except spaces, \" and \\.")
        }
    }
}

extension DataDirectory {
    /// Finds the definition of the scope with the given name.
    func scope(_ name: String) async throws -> ScopeDefinition {
        guard let scope = try await store.scopes().first(where: { $0.token.rawValue == name }) else {
            throw CommandFailure.noScope(name)
        }
        return scope
    }
}

extension CommandFailure {
    static func noScope(_ name: String) -> CommandFailure {
        .refused("there is no scope named \(DisplayName(name)); see: counterfoil-server scope list")
    }
}
