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
