import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

/// The argument that names a registered client.
struct ClientArgument: ParsableArguments {
    @Argument(help: "The client_id.")
    var clientID: String
}

extension Installation {
    /// Returns the registered client with a `client_id`; fails the command if there is none.
    func client(_ clientID: String) async throws -> RegisteredClient {
        guard let id = ClientIdentifier(clientID), let client = try await store.client(id) else {
            throw CommandFailure.noClient(clientID)
        }
        guard !client.isUnregistered else { throw CommandFailure.unregistered(id) }
        return client
    }
}

extension CommandFailure {
    static func unregistered(_ id: ClientIdentifier) -> CommandFailure {
        .refused("the app \(id) is unregistered; see: counterfoil-server unregistered --help")
    }

    static func noClient(_ clientID: String) -> CommandFailure {
        .refused("there is no app with the client_id \(clientID.prefix(100)); see: counterfoil-server app list")
    }
}
