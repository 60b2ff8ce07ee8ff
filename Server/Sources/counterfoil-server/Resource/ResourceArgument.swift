import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The argument that names a registered API.
struct ResourceArgument: ParsableArguments {
    @Argument(help: "The URI of the API.")
    var uri: String
}

extension Installation {
    /// Returns the API with a resource indicator; fails the command if there is none.
    func resource(_ text: String) async throws -> RegisteredResource {
        guard let indicator = try? Resource(text), let resource = try await store.resource(indicator) else {
            throw CommandFailure.refused("there is no API with the URI \(text); see: counterfoil-server resource list")
        }
        return resource
    }
}

extension CommandFailure {
    static var deletedMeanwhile: CommandFailure { .temporary("another command has just deleted this API") }

    /// Creates a failure with the problems of an API; a retry can help if another command was faster.
    ///
    /// - Parameter scope: The scopes that the command names.
    static func refused(_ refusal: APIRefusal, _ scope: Scope) -> CommandFailure {
        if refusal.problems.contains(where: { $0.field == nil }) {
            return .temporary("the API was changed at the same time; try again")
        }
        let unknown = scope.tokens.filter { token in
            refusal.problems.contains(APIDraft.FieldProblem.unknown(Scope([token]))[0])
        }
        if !unknown.isEmpty { return .unknownScopes(Scope(unknown)) }
        return .refused(refusal.problems.map { Localizer.english($0.text) }.joined(separator: " "))
    }
}
