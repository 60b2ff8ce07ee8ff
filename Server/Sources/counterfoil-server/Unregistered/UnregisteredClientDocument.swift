import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

extension UnregisteredClientDocument {
    /// The client as one line of text.
    var line: String {
        let used = use.lastUsedAt.map { "last used \(Moment.text($0))" } ?? "never used"
        let users = use.users == 1 ? "1 user" : "\(use.users) users"
        return "\(use.client.id)  \(use.client.displayName)  \(users), \(used)"
            + (use.scope.isEmpty ? "" : ", scope \(use.scope)")
    }
}

extension Installation {
    /// Returns the unregistered client with a `client_id`; fails the command if there is none.
    func unregisteredClient(_ clientID: String) async throws -> UnregisteredClientUse {
        guard let id = ClientIdentifier(clientID) else { throw CommandFailure.noUnregisteredClient(clientID) }
        if let use = try await store.unregisteredClient(id) { return use }
        guard try await store.client(id) == nil else { throw CommandFailure.registered(id) }
        throw CommandFailure.noUnregisteredClient(clientID)
    }
}

extension CommandFailure {
    static func registered(_ id: ClientIdentifier) -> CommandFailure {
        .refused("the app \(id) is registered; see: counterfoil-server app show --help")
    }

    static func noUnregisteredClient(_ clientID: String) -> CommandFailure {
        .refused(
            "there is no unregistered app with the client_id \(clientID.prefix(100)); "
                + "see: counterfoil-server unregistered list")
    }
}
