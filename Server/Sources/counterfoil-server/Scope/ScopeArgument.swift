import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

/// The argument that names an existing scope.
struct ScopeArgument: ParsableArguments {
    @Argument(help: "The name of the scope.")
    var name: String
}

extension Installation {
    /// Returns the definition of the scope with a name; fails the command if there is none.
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
