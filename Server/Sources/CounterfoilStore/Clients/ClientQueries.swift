@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The beginning of the name of a client, a whole client identifier, or the username of an owner, by which clients are
/// found.
public struct ClientSearch: Sendable, Hashable {
    /// The text in the form in which the store compares it with names.
    public let text: String
    /// The identifier, if the typed text is the whole of one; it distinguishes upper and lower case.
    public let id: ClientIdentifier?
    /// The username, if the typed text is the whole of one.
    public let owner: Username?

    /// Parses a text as typed; nil if it is empty, longer than ``UserSearch/limit``, or contains a control character.
    ///
    /// Every other character stands for itself, also `%`, `_` and `*`.
    public init?(_ typed: String) {
        guard let search = UserSearch(typed) else { return nil }
        text = search.text
        id = ClientIdentifier(typed.asTypedName())
        owner = Username(typed)
    }

    /// Returns the form of a name in which it is compared, at most 256 bytes.
    package static func key(of name: String) -> String { UserSearch.key(of: name) }
}

/// A query for clients that a person registered; a client must satisfy every condition of the query.
public struct ClientQuery: Sendable, Hashable {
    /// The reason why a client cannot do everything that it is registered for.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Clients that wait for approval and are not suspended.
        case pending
        /// Clients in development that are not suspended.
        case development
        /// Services with scopes that wait for the approval of requests without a user, and that are not suspended.
        case machineAccess = "machine-access"
        /// Clients that are suspended.
        case suspended
    }

    /// The order of clients.
    public enum Order: String, Sendable, Hashable, CaseIterable {
        /// By name, then by identifier.
        case name
        /// The latest registration first.
        case newest
    }

    /// The text to search for; nil for all clients.
    public var search: ClientSearch?
    /// The state of the clients; nil for all.
    public var state: State?
    /// The user who owns the clients or manages them with the owner; nil for clients of all users and of none.
    public var developer: UserIdentifier?
    /// The order of the clients.
    public var order: Order
    /// The place after which the clients are; nil to begin with the first one.
    public var after: ClientCursor?
    /// The maximum number of clients to return, 1 to 500.
    public var limit: Int

    /// Creates a query; by default it returns the first 100 clients by name.
    ///
    /// A limit outside 1 to 500 becomes the nearest valid value.
    public init(
        search: ClientSearch? = nil, state: State? = nil, developer: UserIdentifier? = nil, order: Order = .name,
        after: ClientCursor? = nil, limit: Int = 100
    ) {
        self.search = search
        self.state = state
        self.developer = developer
        self.order = order
        self.after = after
        self.limit = min(max(limit, 1), 500)
    }
}

/// The place of a client in a list, which stays valid if the client is deleted.
public struct ClientCursor: Sendable, Hashable {
    /// The name of the client as it is compared, or the time of its registration in microseconds since 1970.
    public let key: String
    /// The identifier of the client, for clients with the same key.
    public let id: ClientIdentifier

    /// Parses a place; nil for a text that is no place in a list with this order.
    public init?(_ key: String, _ id: String, in order: ClientQuery.Order) {
        guard let id = ClientIdentifier(id) else { return nil }
        switch order {
        case .name: guard key.isEmpty || UserSearch(key)?.text == key else { return nil }
        case .newest: guard Int64(key).map({ String($0) }) == key else { return nil }
        }
        self.key = key
        self.id = id
    }

    /// Creates the place of a client in a list.
    package init(of client: RegisteredClient, in order: ClientQuery.Order) {
        key =
            switch order {
            case .name: ClientSearch.key(of: client.presentation.name)
            case .newest: String(Int64((client.createdAt.timeIntervalSince1970 * 1_000_000).rounded()))
            }
        id = client.id
    }
}

/// A client with the facts that lists show, read in one transaction.
public struct ListedClient: Sendable, Hashable {
    /// The client.
    public let client: RegisteredClient
    /// The user who owns the client; nil if no user does.
    public let owner: User?
    /// The use of the client.
    public let use: ClientUse

    /// Creates facts that a store has read in one transaction.
    public init(client: RegisteredClient, owner: User?, use: ClientUse) {
        self.client = client
        self.owner = owner
        self.use = use
    }
}

/// The use of a client by users.
public struct ClientUse: Sendable, Hashable {
    /// The seconds by which ``lastUsedAt`` can be too early.
    public static let resolution = 3600

    /// The number of users who allow the client something, or who have signed in to a first-party client.
    public let users: UserCount
    /// The time of the last sign-in or refresh of any user, at most ``resolution`` too early; nil if there was none.
    public let lastUsedAt: Date?

    /// Creates a record.
    public init(users: UserCount, lastUsedAt: Date?) {
        self.users = users
        self.lastUsedAt = lastUsedAt
    }
}

/// A part of the clients that a query finds.
public struct ClientListing: Sendable, Hashable {
    /// The clients, in the order of the query.
    public let clients: [ListedClient]
    /// The place after which the query continues; nil if nothing is left.
    public let next: ClientCursor?

    /// Creates a part of a list.
    public init(clients: [ListedClient], next: ClientCursor?) {
        self.clients = clients
        self.next = next
    }
}

/// The lists of clients that a person registered, in pages, and their use.
public protocol ClientQueryStore: Sendable {
    /// Finds clients that a person registered.
    func clients(matching query: ClientQuery) async throws(StoreFault) -> ClientListing
    /// Counts the clients that a query finds, whatever its ``ClientQuery/after`` and ``ClientQuery/limit`` are.
    func clientCount(matching query: ClientQuery) async throws(StoreFault) -> UserCount
    /// Reads the use of a client; no user and no time if there is no such client.
    func use(of client: ClientIdentifier) async throws(StoreFault) -> ClientUse
}
