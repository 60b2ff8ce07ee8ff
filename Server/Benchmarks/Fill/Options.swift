import CounterfoilPostgreSQL
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilStore

extension Fill {
    /// The options on the command line.
    struct Options: Sendable {
        static let usage = """
            usage: fill-store --database FILE|URI --client-id ID --tokens N
                   fill-store --database FILE|URI --users N --clients N
            """

        /// The records to fill the store with.
        enum Content: Sendable {
            /// Refresh tokens of a client, and their users.
            case tokens(Int, of: ClientIdentifier)
            /// Users and clients that differ as those of a real server do.
            case records(users: Int, clients: Int)
        }

        let database: String
        let content: Content

        init(_ arguments: ArraySlice<String>) throws {
            var values: [String: String] = [:]
            var rest = arguments
            while let name = rest.popFirst() {
                guard let value = rest.popFirst() else { throw Failure(Self.usage) }
                values[name] = value
            }
            func count(_ name: String) -> Int? {
                values[name].flatMap { Int($0) }.flatMap { (0...100_000_000).contains($0) ? $0 : nil }
            }
            guard values.count == 3, let database = values["--database"] else { throw Failure(Self.usage) }
            if let client = values["--client-id"].flatMap({ ClientIdentifier($0) }), let tokens = count("--tokens") {
                content = .tokens(tokens, of: client)
            } else if let users = count("--users"), let clients = count("--clients") {
                content = .records(users: users, clients: clients)
            } else {
                throw Failure(Self.usage)
            }
            self.database = database
        }

        /// Runs `body` with the open store.
        func withStore(_ body: @Sendable (any AuthorizationServerStore) async throws -> Void) async throws {
            if database.hasPrefix("postgresql://") {
                let store = try await PostgreSQLStore.open(try ConnectionString(database))
                try await body(store)
                await store.close()
            } else {
                let store = try SQLiteStore(at: database, createIfMissing: false)
                try await body(store)
                await store.close()
            }
        }
    }
}
