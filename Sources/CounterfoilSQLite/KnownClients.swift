import CounterfoilProtocol
import CounterfoilServer
import Foundation
import Synchronization

/// The version of a client: each change increments its revision, and a new client has another creation time.
struct ClientVersion: Hashable {
    let createdAt: Date
    let revision: Int

    init(createdAt: Date, revision: Int) {
        self.createdAt = createdAt
        self.revision = revision
    }

    init(_ client: RegisteredClient) { self.init(createdAt: client.createdAt, revision: client.revision) }
}

/// A cache of parsed clients.
///
/// Parsing the URIs and scopes of a client costs more than the rest of a lookup. The version of the client is
/// read from the database each time, because other processes write to it.
final class KnownClients: Sendable {
    /// The most cached clients; the cache is cleared when it is full.
    private static let capacity = 1000

    private let clients = Mutex<[ClientIdentifier: RegisteredClient]>([:])

    /// Returns the cached client if it has this version.
    func client(_ id: ClientIdentifier, _ version: ClientVersion) -> RegisteredClient? {
        clients.withLock { clients in
            guard let client = clients[id], ClientVersion(client) == version else { return nil }
            return client
        }
    }

    func keep(_ client: RegisteredClient) {
        clients.withLock { clients in
            if clients.count >= Self.capacity, clients[client.id] == nil { clients.removeAll() }
            clients[client.id] = client
        }
    }
}
