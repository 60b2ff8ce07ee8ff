import CounterfoilProtocol
import CounterfoilServer
import Foundation
import Synchronization

/// What tells one state of an application from every other: each change counts its revision up.
struct ClientVersion: Hashable {
    let createdAt: Date
    let revision: Int

    init(createdAt: Date, revision: Int) {
        self.createdAt = createdAt
        self.revision = revision
    }

    init(_ client: RegisteredClient) { self.init(createdAt: client.createdAt, revision: client.revision) }
}

/// The applications that were read lately.
///
/// Reading one takes its addresses and scopes apart again, which costs more than everything else of a look-up; whether what is
/// known is still so is asked of the database each time, because other processes write to it.
final class KnownClients: Sendable {
    /// How many are known at most.
    private static let capacity = 1000

    private let clients = Mutex<[ClientIdentifier: RegisteredClient]>([:])

    /// The application in this very state, where it is known.
    func client(_ id: ClientIdentifier, _ version: ClientVersion) -> RegisteredClient? {
        clients.withLock { clients in
            guard let client = clients[id], ClientVersion(client) == version else { return nil }
            return client
        }
    }

    /// Knows an application from now on.
    func keep(_ client: RegisteredClient) {
        clients.withLock { clients in
            if clients.count >= Self.capacity, clients[client.id] == nil { clients.removeAll() }
            clients[client.id] = client
        }
    }
}
