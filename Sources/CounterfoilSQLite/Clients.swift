public import CounterfoilProtocol
public import CounterfoilServer
import CounterfoilTokens
import Foundation
import GRDB

extension SQLiteStore: ClientStore {
    /// The application of an identifier.
    public func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient? {
        try read { database in
            try database.first(
                "SELECT \(RegisteredClient.columns) FROM clients WHERE id = ?",
                id.rawValue,
                read: RegisteredClient.init(_:)
            )
        }
    }

    /// Every application, oldest first.
    public func clients() async throws(StoreFault) -> [RegisteredClient] {
        try read { database in
            try database.all(
                "SELECT \(RegisteredClient.columns) FROM clients ORDER BY created_at, rowid",
                read: RegisteredClient.init(_:)
            )
        }
    }

    /// Registers an application, unless its identifier is taken or a scope does not exist.
    public func addClient(_ client: RegisteredClient) async throws(StoreFault) -> AddClientOutcome {
        try await commits.commit { database in
            let isTaken = try database.answers("SELECT EXISTS (SELECT 1 FROM clients WHERE id = ?)", client.id.rawValue)
            guard isTaken == [false] else { return .identifierTaken }
            let unknown = try client.scope.tokens.filter { token in
                try database.answers("SELECT EXISTS (SELECT 1 FROM scopes WHERE name = ?)", token.rawValue) == [false]
            }
            guard unknown.isEmpty else { return .unknownScopes(Scope(unknown)) }
            try database.run(
                "INSERT INTO clients (\(RegisteredClient.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                client.id.rawValue,
                client.type.rawValue,
                client.name,
                client.publisher,
                client.redirectURIs.map(\.rawValue).joined(separator: " "),
                client.scope.description,
                client.isFirstParty,
                client.requiresState,
                client.idTokenAlgorithm.rawValue,
                client.createdAt.microseconds
            )
            return .added
        }
    }
}

extension RegisteredClient {
    static let columns = """
        id, type, name, publisher, redirect_uris, scope, is_first_party, requires_state, id_token_algorithm, created_at
        """

    init(_ columns: inout Columns) throws {
        self.init(
            id: try columns.value(ClientIdentifier.init(_:)),
            type: try columns.value(ClientType.init(rawValue:)),
            name: try columns.text(),
            publisher: try columns.optionalText(),
            // A URI holds no space, so a space delimits them.
            redirectURIs: try columns.value { try $0.split(separator: " ").map { try RedirectURI(String($0)) } },
            scope: try columns.value { try Scope(lenient: $0) },
            isFirstParty: try columns.flag(),
            requiresState: try columns.flag(),
            idTokenAlgorithm: try columns.value(SigningAlgorithm.init(rawValue:)),
            createdAt: try columns.date()
        )
    }
}
