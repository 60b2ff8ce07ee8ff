public import CounterfoilProtocol
public import CounterfoilStore
import Foundation

extension SQLStore {
    /// Reads the digests of the secrets of a confidential client, oldest first; the secrets themselves are not stored.
    public func clientSecrets(of id: ClientIdentifier) async throws(StoreFault) -> [ClientSecretRecord] {
        try await read { database in try database.clientSecrets(of: id) }
    }

    /// Adds a secret, unless the client already has `ClientSecretRecord.limit` secrets.
    public func addClientSecret(
        _ secret: ClientSecretRecord, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientSecretOutcome {
        try await commit(recording: events) { database in
            let facts = try database.answers(
                """
                SELECT EXISTS (SELECT 1 FROM clients WHERE id = ?1),
                    (SELECT count(*) FROM client_secrets WHERE client_id = ?1) < \(ClientSecretRecord.limit)
                """,
                secret.clientID.rawValue
            )
            guard facts[0] else { return .clientDeleted }
            guard facts[1] else { return .tooMany }
            try database.insert(secret)
            return .added
        }
    }

    /// Deletes the secret with this digest; returns false if the client has no such secret.
    @discardableResult
    public func removeClientSecret(
        _ digest: ArtefactDigest,
        of id: ClientIdentifier,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.clientSecret), recording: events) { database in
            try database.run(
                "DELETE FROM client_secrets WHERE digest = ? AND client_id = ?",
                Data(digest.bytes),
                id.rawValue
            ) == 1
        }
    }
}

extension SQLConnection {
    func clientSecrets(of id: ClientIdentifier) throws -> [ClientSecretRecord] {
        try all(
            "SELECT digest, client_id, created_at FROM client_secrets WHERE client_id = ? ORDER BY created_at, rowid",
            id.rawValue
        ) { columns in
            ClientSecretRecord(
                digest: try columns.digest(),
                clientID: try columns.value(ClientIdentifier.init(_:)),
                createdAt: try columns.date()
            )
        }
    }

    func insert(_ secret: ClientSecretRecord) throws {
        try send(
            "INSERT INTO client_secrets (digest, client_id, created_at) VALUES (?, ?, ?)",
            Data(secret.digest.bytes),
            secret.clientID.rawValue,
            secret.createdAt.microseconds
        )
    }
}
