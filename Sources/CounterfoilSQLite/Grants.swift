import CounterfoilProtocol
public import CounterfoilServer
public import Foundation
import GRDB

extension SQLiteStore: GrantStore {
    /// Records what a person allowed, with the code for it, unless the page was answered before.
    public func recordConsent(_ grant: Grant, code: CodeRecord) async throws(StoreFault) -> RecordConsentOutcome {
        try await commits.commit { database in
            // The transaction holds the write lock since its begin, so what is read here stays true until it ends.
            let facts = try database.answers(
                """
                SELECT EXISTS (SELECT 1 FROM codes WHERE interaction = ?),
                    EXISTS (SELECT 1 FROM clients WHERE id = ?),
                    EXISTS (SELECT 1 FROM people WHERE id = ? AND disabled_at IS NULL)
                """,
                Data(code.interaction.bytes),
                grant.clientID.rawValue,
                grant.personID.rawValue
            )
            if facts[0] { return .alreadyAnswered }
            guard facts[1] else { return .clientGone }
            guard facts[2] else { return .personGone }
            try database.insert(grant)
            try database.insert(code)
            return .recorded
        }
    }

    /// The code of a digest with its grant and person, also when it was used or has expired.
    public func code(_ digest: ArtefactDigest) async throws(StoreFault) -> CodeFacts? {
        try read { database in
            try database.first(
                """
                SELECT \(CodeRecord.columns), \(Grant.columns), \(Person.columns)
                FROM codes JOIN grants ON grants.id = codes.grant_id JOIN people ON people.id = grants.person_id
                WHERE codes.digest = ?
                """,
                Data(digest.bytes)
            ) { columns in
                CodeFacts(code: try CodeRecord(&columns), grant: try Grant(&columns), person: try Person(&columns))
            }
        }
    }

    /// Redeems a code, unless it was used, has died of failed redemptions, or its grant or person has ended.
    public func consumeCode(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> ConsumeCodeOutcome {
        try await commits.commit { database in
            let key = Data(digest.bytes)
            // RFC 6749 §4.1.2: a code is used once; of any number of redemptions this condition lets one through.
            let consumed = try database.run(
                """
                UPDATE codes SET used_at = ?2
                WHERE digest = ?1 AND used_at IS NULL AND failed_redemptions < \(CodeRecord.failedRedemptionLimit)
                    AND EXISTS (
                        SELECT 1 FROM grants JOIN people ON people.id = grants.person_id
                        WHERE grants.id = codes.grant_id AND grants.revoked_at IS NULL AND people.disabled_at IS NULL
                    )
                """,
                key,
                time.microseconds
            )
            guard consumed == 1 else {
                let wasUsed = try database.answers("SELECT used_at IS NOT NULL FROM codes WHERE digest = ?", key)
                return wasUsed == [true] ? .alreadyUsed : .gone
            }
            try database.run(
                """
                UPDATE grants SET last_used_at = max(last_used_at, ?2)
                WHERE id = (SELECT grant_id FROM codes WHERE digest = ?1)
                """,
                key,
                time.microseconds
            )
            return .consumed
        }
    }

    /// Counts a redemption with a wrong verifier; the count after it, which stays at the limit, or 0 without such a code.
    @discardableResult
    public func countFailedRedemption(_ digest: ArtefactDigest) async throws(StoreFault) -> Int {
        try await commits.commit { database in
            let key = Data(digest.bytes)
            try database.run(
                """
                UPDATE codes SET failed_redemptions = failed_redemptions + 1
                WHERE digest = ? AND used_at IS NULL AND failed_redemptions < \(CodeRecord.failedRedemptionLimit)
                """,
                key
            )
            return try database.first("SELECT failed_redemptions FROM codes WHERE digest = ?", key) { columns in
                Int(try columns.integer())
            } ?? 0
        }
    }

    /// The grant of an identifier, also when it is revoked.
    public func grant(_ id: GrantIdentifier) async throws(StoreFault) -> Grant? {
        try read { database in
            try database.first(
                "SELECT \(Grant.columns) FROM grants WHERE grants.id = ?",
                id.rawValue,
                read: Grant.init(_:)
            )
        }
    }

    /// Revokes a grant and with it everything that it gave.
    @discardableResult
    public func revokeGrant(_ id: GrantIdentifier, at time: Date) async throws(StoreFault) -> RevokeGrantOutcome {
        try await commits.commit { database in
            let revoked = try database.run(
                "UPDATE grants SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL",
                id.rawValue,
                time.microseconds
            )
            guard revoked == 0 else { return .revoked }
            let exists = try database.answers("SELECT EXISTS (SELECT 1 FROM grants WHERE id = ?)", id.rawValue)
            return exists == [true] ? .alreadyRevoked : .notFound
        }
    }
}
