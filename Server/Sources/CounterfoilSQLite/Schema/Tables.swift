import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilStore
import GRDB

/// The tables, indexes and triggers of a new store, and its initial rows.
///
/// Times are microseconds since 1970, and flags are 0 or 1. Secrets are stored only as digests, passwords as hashes,
/// and signing keys sealed. Lists, such as scopes and redirect URIs, are texts delimited by spaces.
///
/// Records of users and clients whose number has no limit refer to no row in `people` or `clients`, because they are
/// deleted after that row, some at a time.
enum Tables {
    /// Creates everything in an empty database.
    static func create(in database: Database) throws {
        for statements in [
            people, registry, grants, requests, logout, audit, operation, shared, certificateOrders, endings,
        ] {
            try database.execute(sql: statements)
        }
        for statement in renewals + EndingTrigger.statements(for: .sqlite) { try database.execute(sql: statement) }
        for scope in ScopeDefinition.standard {
            try database.connection.send(
                "INSERT INTO scopes (name, description, is_listed) VALUES (?, ?, 1)", scope.token.rawValue,
                scope.description)
        }
    }
}
