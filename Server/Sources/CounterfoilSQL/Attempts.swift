public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Decides whether an attempt can proceed, and counts it as a failure.
    public func admitAttempt(_ attempt: CountedAttempt, at now: Date) async throws(StoreFault) -> AttemptVerdict {
        let early = try await read { database in try database.verdict(on: attempt, at: now) }
        if case .tooEarly = early { return early }
        return try await commit { database in
            let verdict = try database.verdict(on: attempt, at: now)
            for key in attempt.counted(after: verdict) {
                try database.send(
                    "INSERT INTO attempts (digest, at, expires_at) VALUES (?, ?, ?)",
                    Data(key.digest.bytes),
                    now.microseconds,
                    (now + key.limit.window).microseconds
                )
            }
            return verdict
        }
    }

    /// Deletes all failures under some digests, and only those of one attempt under others.
    public func settleAttempt(
        forgetting forgotten: [ArtefactDigest], withdrawing withdrawn: [ArtefactDigest], admittedAt time: Date
    ) async throws(StoreFault) {
        try await commit { database in
            for digest in forgotten { try database.send(StoreQuery.forgetAttempts, Data(digest.bytes)) }
            for digest in withdrawn {
                try database.send(StoreQuery.withdrawAttempt, Data(digest.bytes), time.microseconds)
            }
        }
    }

    /// Reads when a network was last noted.
    public func earlierNetworkNoted(_ digest: ArtefactDigest, at now: Date) async throws(StoreFault) -> Date? {
        try await read { database in
            try database.first(
                "SELECT noted_at FROM earlier_networks WHERE digest = ? AND noted_at > ?", Data(digest.bytes),
                (now - EarlierNetwork.lifetime).microseconds
            ) { columns in try columns.date() }
        }
    }

    /// Notes a network from which a user has signed in.
    public func noteEarlierNetwork(_ network: EarlierNetwork, at now: Date) async throws(StoreFault) {
        try await commit { database in
            // A user who was deleted meanwhile gets no row.
            try database.send(
                """
                INSERT INTO earlier_networks (digest, person_id, noted_at)
                SELECT ?1, id, ?3 FROM people WHERE id = ?2
                ON CONFLICT (digest) DO UPDATE SET noted_at = excluded.noted_at
                """, Data(network.digest.bytes), network.user.rawValue, now.microseconds)
            try database.send(StoreQuery.limitEarlierNetworks, network.user.rawValue, EarlierNetwork.limit)
        }
    }
}

extension SQLConnection {
    package func verdict(on attempt: CountedAttempt, at now: Date) throws -> AttemptVerdict {
        try attempt.verdict(at: now) { key in
            try all(
                StoreQuery.failures,
                Data(key.digest.bytes),
                (now - key.limit.window).microseconds,
                (now + key.limit.window).microseconds,
                key.limit.failures
            ) { columns in try columns.date() }.reversed()
        }
    }
}

extension StoreQuery {
    /// The times of the latest ?4 failures under the digest ?1 after ?2, newest first.
    ///
    /// Those after ?3 are from before the clock was set back.
    fileprivate static let failures = """
        SELECT at FROM attempts WHERE digest = ?1 AND at > ?2 AND at <= ?3 ORDER BY at DESC LIMIT ?4
        """

    /// Deletes the networks of the user ?1 except the latest ?2.
    fileprivate static let limitEarlierNetworks = """
        DELETE FROM earlier_networks
        WHERE person_id = ?1 AND digest NOT IN (
            SELECT digest FROM earlier_networks WHERE person_id = ?1 ORDER BY noted_at DESC, digest LIMIT ?2
        )
        """

    /// Deletes all failures under a digest.
    package static let forgetAttempts = "DELETE FROM attempts WHERE digest = ?1"

    /// Deletes one failure under the digest ?1 at the time ?2, at which several may have been counted.
    package static let withdrawAttempt = """
        DELETE FROM attempts
        WHERE number = (SELECT number FROM attempts WHERE digest = ?1 AND at = ?2 LIMIT 1)
        """
}
