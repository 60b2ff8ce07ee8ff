public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Returns the encrypted account key for an authority; if there is none, stores and returns `sealed`.
    public func accountKey(of authority: String, orStoring sealed: [UInt8]) async throws(StoreFault) -> [UInt8] {
        if let stored = try await read({ database in try database.accountKey(of: authority) }) { return stored }
        return try await commit { database in
            if let stored = try database.accountKey(of: authority) { return stored }
            try database.send(
                "INSERT INTO authority_accounts (authority, sealed) VALUES (?, ?)", authority, Data(sealed))
            return sealed
        }
    }

    /// Replaces the encrypted account key for an authority if it is still `former`.
    public func replaceAccountKey(
        of authority: String, _ former: [UInt8], with sealed: [UInt8]
    ) async throws(StoreFault) {
        _ = try await commit { database in
            try database.run(
                "UPDATE authority_accounts SET sealed = ?3 WHERE authority = ?1 AND sealed = ?2", authority,
                Data(former), Data(sealed))
        }
    }

    /// Reads the certificate that an authority has issued; nil if there is none.
    public func issuedCertificate() async throws(StoreFault) -> IssuedCertificate? {
        try await read { database in
            try database.first(
                "SELECT chain, sealed, authority, stored_at, is_renewal_requested FROM issued_certificate"
            ) { columns in
                columns.record = "certificate"
                return IssuedCertificate(
                    chain: try columns.text(), sealedKey: try columns.bytes(), authority: try columns.text(),
                    storedAt: try columns.date(), isRenewalRequested: try columns.flag())
            }
        }
    }

    /// Stores a certificate in place of the former one, and deletes the record of the orders that have failed with its
    /// settings; returns false if the server does not have the lease.
    public func storeCertificate(
        _ certificate: IssuedCertificate, orderedWith settings: ArtefactDigest, by holder: LeaseHolder
    ) async throws(StoreFault) -> Bool {
        try await commit { database in
            guard try database.hasOrderLease(holder) else { return false }
            try database.send(
                """
                INSERT INTO issued_certificate (id, chain, sealed, authority, stored_at, is_renewal_requested)
                VALUES (1, ?1, ?2, ?3, ?4, ?5)
                ON CONFLICT (id) DO UPDATE
                SET chain = ?1, sealed = ?2, authority = ?3, stored_at = ?4, is_renewal_requested = ?5
                """,
                certificate.chain,
                Data(certificate.sealedKey),
                certificate.authority,
                certificate.storedAt.microseconds,
                certificate.isRenewalRequested
            )
            try database.send(
                "DELETE FROM failed_orders WHERE settings = ? OR retry_at <= ?", Data(settings.bytes),
                certificate.storedAt.microseconds)
            return true
        }
    }

    /// Replaces the encrypted key of the certificate if it is still `former`.
    public func replaceCertificateKey(_ former: [UInt8], with sealed: [UInt8]) async throws(StoreFault) {
        _ = try await commit { database in
            try database.run(
                "UPDATE issued_certificate SET sealed = ?2 WHERE sealed = ?1", Data(former), Data(sealed))
        }
    }

    /// Asks the servers for a new certificate at once, and deletes the records of failed orders.
    ///
    /// - Returns: False if it changes nothing.
    public func requestRenewal(recording events: [AuditEvent]) async throws(StoreFault) -> Bool {
        try await commit(recording: events) { database in
            let requested = try database.run(
                "UPDATE issued_certificate SET is_renewal_requested = 1 WHERE is_renewal_requested = 0")
            return try requested + database.run("DELETE FROM failed_orders") > 0
        }
    }

    /// Reads the challenges that have not expired.
    public func pendingChallenges(at now: Date) async throws(StoreFault) -> [PendingChallenge] {
        try await read { database in
            try database.all(
                """
                SELECT type, host, token, key_authorization, expires_at FROM authority_challenges
                WHERE expires_at > ? ORDER BY type, host, token
                """,
                now.microseconds
            ) { columns in
                columns.record = "challenge"
                return PendingChallenge(
                    type: try columns.text(), host: try columns.text(), token: try columns.text(),
                    keyAuthorization: try columns.text(), expiresAt: try columns.date())
            }
        }
    }

    /// Replaces all challenges; without the lease, only deletes those of this server, and returns false.
    public func replaceChallenges(
        _ challenges: [PendingChallenge], by holder: LeaseHolder
    ) async throws(StoreFault) -> Bool {
        try await commit { database in
            guard try database.hasOrderLease(holder) else {
                try database.send("DELETE FROM authority_challenges WHERE holder = ?", Data(holder.bytes))
                return false
            }
            try database.send("DELETE FROM authority_challenges")
            for challenge in challenges {
                try database.send(
                    """
                    INSERT INTO authority_challenges (type, host, token, key_authorization, expires_at, holder)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                    challenge.type,
                    challenge.host,
                    challenge.token,
                    challenge.keyAuthorization,
                    challenge.expiresAt.microseconds,
                    Data(holder.bytes)
                )
            }
            return true
        }
    }

    /// Reads the records of failed orders, one for each digest of settings, the latest failure last.
    public func failedOrders() async throws(StoreFault) -> [FailedOrders] {
        try await read { database in
            try database.all(
                """
                SELECT settings, authority, count, failed_at, retry_at, is_imposed FROM failed_orders
                ORDER BY failed_at, settings
                """
            ) { columns in
                columns.record = "failed order"
                return FailedOrders(
                    settings: try columns.digest(), authority: try columns.text(),
                    count: Int(clamping: try columns.integer()), failedAt: try columns.date(),
                    retryAt: try columns.date(), isImposed: try columns.flag())
            }
        }
    }

    /// Replaces the record of failed orders of its settings.
    public func noteFailedOrders(_ failed: FailedOrders) async throws(StoreFault) {
        try await commit { database in
            try database.send(
                """
                INSERT INTO failed_orders (settings, authority, count, failed_at, retry_at, is_imposed)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                ON CONFLICT (settings) DO UPDATE
                SET authority = ?2, count = ?3, failed_at = ?4, retry_at = ?5, is_imposed = ?6
                """,
                Data(failed.settings.bytes),
                failed.authority,
                failed.count,
                failed.failedAt.microseconds,
                failed.retryAt.microseconds,
                failed.isImposed
            )
        }
    }

    /// Takes the lease of the order, or renews it, unless another server has it.
    public func takeOrderLease(
        _ holder: LeaseHolder, until end: Date, at now: Date
    ) async throws(StoreFault) -> Bool {
        try await commit { database in try database.takeLease("order_lease", for: holder, until: end, at: now) }
    }

    /// Returns the lease of the order, if this server has it.
    public func returnOrderLease(_ holder: LeaseHolder) async throws(StoreFault) {
        _ = try await commit { database in
            try database.run("DELETE FROM order_lease WHERE holder = ?", Data(holder.bytes))
        }
    }
}

extension SQLConnection {
    fileprivate func hasOrderLease(_ holder: LeaseHolder) throws -> Bool {
        try answers("SELECT EXISTS (SELECT 1 FROM order_lease WHERE holder = ?)", Data(holder.bytes)) == [true]
    }

    fileprivate func accountKey(of authority: String) throws -> [UInt8]? {
        try first("SELECT sealed FROM authority_accounts WHERE authority = ?", authority) { columns in
            try columns.bytes()
        }
    }
}
