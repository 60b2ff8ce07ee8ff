public import CounterfoilProtocol
public import Foundation

/// A client that no person registered, with its use.
public struct UnregisteredClientUse: Sendable, Hashable {
    /// The maximum number of consents that a store reads to describe the use of one client.
    public static let consentLimit = 1000

    /// The client, with the time at which it became known in ``RegisteredClient/createdAt``.
    public let client: RegisteredClient
    /// The number of users who allow the client something, at most ``consentLimit``.
    public let users: Int
    /// The time when one of at most ``consentLimit`` users last used the client; nil if none ever did.
    public let lastUsedAt: Date?
    /// The scopes that at most ``consentLimit`` users allow, by name.
    public let scope: Scope

    /// Creates a record.
    public init(client: RegisteredClient, users: Int, lastUsedAt: Date?, scope: Scope) {
        self.client = client
        self.users = users
        self.lastUsedAt = lastUsedAt
        self.scope = scope
    }
}

extension UnregisteredClientUse {
    /// Whether the client is not deleted: it is suspended, and a request would store it again without the suspension.
    package var isKept: Bool { client.suspension != nil && client.documentHost != nil }
}

/// A set of unregistered clients that administrators see together.
public enum UnregisteredClientFamily: Sendable, Hashable {
    /// The clients whose documents are at a host, whose name is in lower case.
    case host(String)
    /// The clients that registered themselves.
    case registrations
}

/// The size of an ``UnregisteredClientFamily``.
public struct UnregisteredClientCount: Sendable, Hashable {
    /// The maximum number of clients that a store counts in a family.
    public static let limit = 10_000

    /// The number of clients, at most ``limit``.
    public let clients: Int
    /// The number of the counted clients to which no user allows anything.
    public let unused: Int

    /// Creates a count.
    public init(clients: Int, unused: Int) {
        self.clients = clients
        self.unused = unused
    }
}

/// A host with documents of clients, and the number of these clients.
public struct UnregisteredClientHost: Sendable, Hashable {
    /// The name of the host in lower case.
    public let name: String
    /// The number of its clients.
    public let count: UnregisteredClientCount

    /// Creates a record.
    public init(name: String, count: UnregisteredClientCount) {
        self.name = name
        self.count = count
    }
}

/// A search for hosts with documents of clients, or for one client that no person registered.
public struct UnregisteredClientSearch: Sendable, Hashable {
    /// The beginning of the names of hosts in lower case; the whole name if the typed text is a URL.
    public let prefix: String
    /// The identifier, if the typed text is the whole of one; it distinguishes upper and lower case.
    public let id: ClientIdentifier?

    /// Parses a text as typed; nil if it is empty, longer than ``UserSearch/limit``, or contains a control character.
    public init?(_ typed: String) {
        guard let search = UserSearch(typed) else { return nil }
        let text = typed.asTypedName()
        prefix = (try? AbsoluteURI(parsing: text))?.host ?? search.text
        id = ClientIdentifier(text)
    }
}

/// The place of a client in the list of a family, which stays valid if the client is deleted.
public struct UnregisteredClientCursor: Sendable, Hashable {
    /// The time at which the client became known.
    public let createdAt: Date
    /// The identifier of the client, for clients with the same time.
    public let id: ClientIdentifier

    /// Creates a place.
    public init(createdAt: Date, id: ClientIdentifier) {
        self.createdAt = createdAt
        self.id = id
    }

    /// Creates the place of a client.
    public init(of client: RegisteredClient) {
        self.init(createdAt: client.createdAt, id: client.id)
    }
}

/// The use of clients that no person registered, for administrators.
///
/// A stranger can create any number of such clients, so no method reads them all.
public protocol UnregisteredClientUseStore: Sendable {
    /// Reads hosts that have stored client documents, by name.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the names in lower case; empty for every host.
    ///   - name: The last host of the page before; nil for the first page.
    ///   - limit: The maximum number of hosts.
    func unregisteredClientHosts(
        startingWith prefix: String, after name: String?, limit: Int
    ) async throws(StoreFault) -> [UnregisteredClientHost]
    /// Counts the clients of a family.
    func unregisteredClientCount(
        of family: UnregisteredClientFamily
    ) async throws(StoreFault) -> UnregisteredClientCount
    /// Reads clients of a family, newest first.
    ///
    /// - Parameters:
    ///   - family: The family.
    ///   - last: The place of the last client of the page before; nil for the first page.
    ///   - limit: The maximum number of clients.
    func unregisteredClients(
        of family: UnregisteredClientFamily, after last: UnregisteredClientCursor?, limit: Int
    ) async throws(StoreFault) -> [UnregisteredClientUse]
    /// Reads one client; nil if there is none, or if a person registered it.
    func unregisteredClient(_ id: ClientIdentifier) async throws(StoreFault) -> UnregisteredClientUse?
    /// Deletes a client with everything that belongs to it (``ClientRemoval``); returns false if there is none, if a
    /// person registered it, or if it is a suspended client with a document.
    ///
    /// The deletion of a suspended client with a document would end its suspension, so the record stays.
    /// The store does not remember the identifier, so that a user can allow a client with a document something again.
    @discardableResult
    func removeUnregisteredClient(
        _ id: ClientIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
    /// Deletes clients of a family, each as ``removeUnregisteredClient(_:recording:)`` does, in one transaction.
    ///
    /// If it deletes any, the store appends the events that `events` returns for their number.
    ///
    /// - Returns: The number of deleted clients, at most `limit`; 0 if no client is left that it deletes.
    func removeUnregisteredClients(
        of family: UnregisteredClientFamily, atMost limit: Int,
        recording events: @escaping @Sendable (Int) -> [AuditEvent]
    ) async throws(StoreFault) -> Int
}

extension RegisteredClient {
    /// The host of the client's document in lower case; nil for a client without one.
    package var documentHost: String? {
        guard case .document = source else { return nil }
        return (try? AbsoluteURI(parsing: id.rawValue))?.host
    }
}
