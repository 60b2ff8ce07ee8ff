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

extension Installation {
    /// The changes of scopes and APIs, whose events say that they were made at the command line.
    var registry: RegistryAdministration {
        RegistryAdministration(
            store, at: store.now(),
            recording: { [self] kind, client, detail in event(kind, client: client, detail: detail) })
    }
}

extension CommandFailure {
    /// Creates a failure with the problems of a scope; a retry can help if another command was faster.
    static func refused(_ refusal: ScopeRefusal) -> CommandFailure {
        if refusal.problems.contains(where: { $0.field == nil }) {
            return .temporary("the scope was changed at the same time; try again")
        }
        return .refused(refusal.problems.map { Localizer.english($0.text) }.joined(separator: " "))
    }

    static func noScope(_ name: String) -> CommandFailure {
        .refused("there is no scope named \(DisplayName(name)); see: counterfoil-server scope list")
    }
}
