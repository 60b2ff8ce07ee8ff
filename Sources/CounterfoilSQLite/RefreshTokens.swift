public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation
import GRDB

extension SQLiteStore: RefreshTokenStore {
    private static let refreshFacts = """
        SELECT (SELECT version FROM registry), \(RefreshFamily.columns), \(Grant.columns), \(Person.columns)
        FROM refresh_tokens JOIN grants ON grants.id = refresh_tokens.grant_id JOIN people ON people.id = grants.person_id
        WHERE refresh_tokens.digest = ?
        """

    /// The line of a digest with its grant, person and application, also when any of them has ended.
    ///
    /// Applications and APIs seldom change, so one number of the row tells whether those that are known are still so.
    public func refreshFacts(_ digest: ArtefactDigest) async throws(StoreFault) -> RefreshFacts? {
        try read { database in
            let line = try database.first(Self.refreshFacts, Data(digest.bytes)) { columns in
                (
                    registry: try columns.integer(), family: try RefreshFamily(&columns), grant: try Grant(&columns),
                    person: try Person(&columns)
                )
            }
            guard let line else { return nil }
            let client = try registeredClients.value(of: line.grant.clientID, at: line.registry) {
                try database.client(line.grant.clientID).map { client in
                    ClientFacts(client: client, secrets: try database.clientSecrets(of: client.id))
                }
            }
            // Nothing is left of the line when its application is removed in between.
            guard let client else { return nil }
            let resources = try line.grant.resources.compactMap { resource in
                try registeredResources.value(of: resource, at: line.registry) { try database.resource(resource) }
            }
            return RefreshFacts(
                family: line.family, grant: line.grant, person: line.person, client: client.client,
                clientSecrets: client.secrets, resources: resources)
        }
    }

    /// How long a line may be used without the index of resting lines being told, in microseconds.
    private static let restResolution: Int64 = 3600 * 1_000_000

    /// Records a refresh of a line that is still at the generation that was read, and that its grant and its consent are used.
    ///
    /// What is known well enough is not written again, so that most refreshes change one row and no index.
    public func recordRefresh(
        _ digest: ArtefactDigest,
        at generation: Int,
        _ step: RefreshStep,
        now: Date
    ) async throws(StoreFault) -> RecordRefreshOutcome {
        try await commits.commit { database in
            let key = Data(digest.bytes)
            // RFC 9700 §4.14.2: of any number of refreshes with one token this condition lets one go on.
            guard let line = try database.record(step, of: key, at: generation, now: now) else {
                return try database.holds(key) ? .changedMeanwhile : .gone
            }
            let (time, use) = (now.microseconds, Int64(Grant.useResolution * 1_000_000))
            if line.restingSince <= time - Self.restResolution {
                try database.run("UPDATE refresh_tokens SET resting_since = ?2 WHERE digest = ?1", key, time)
            }
            let isNews = try database.run(
                "UPDATE grants SET last_used_at = ?2 WHERE id = ?1 AND last_used_at <= ?2 - ?3",
                line.grant, time, use)
            // A grant that was noted as used has had its consent noted with it.
            if isNews == 1 {
                try database.run(
                    """
                    UPDATE consents SET last_used_at = max(ifnull(last_used_at, ?2), ?2)
                    WHERE (person_id, client_id) = (SELECT person_id, client_id FROM grants WHERE id = ?1)
                    """,
                    line.grant, time)
            }
            return .recorded
        }
    }

    /// What has become of the refresh tokens of an application.
    public func refreshStatistics(of client: ClientIdentifier) async throws(StoreFault) -> RefreshStatistics {
        try read { database in
            try database.first(
                "SELECT repeats, reuses, last_reuse_at, revocations FROM refresh_statistics WHERE client_id = ?",
                client.rawValue,
                read: RefreshStatistics.init(_:)
            ) ?? RefreshStatistics()
        }
    }

    /// What has become of the refresh tokens of every application together.
    public func refreshStatistics() async throws(StoreFault) -> RefreshStatistics {
        try read { database in
            try database.first(
                """
                SELECT ifnull(sum(repeats), 0), ifnull(sum(reuses), 0), max(last_reuse_at), ifnull(sum(revocations), 0)
                FROM refresh_statistics
                """,
                read: RefreshStatistics.init(_:)
            ) ?? RefreshStatistics()
        }
    }
}

extension Database {
    func insert(_ family: RefreshFamily) throws {
        try run(
            """
            INSERT INTO refresh_tokens (
                digest, grant_id, generation, rotated_at, repeats, last_used_at, expires_at, resting_since
            ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?6)
            """,
            Data(family.digest.bytes),
            family.grantID.rawValue,
            family.generation,
            family.rotatedAt.microseconds,
            family.repeats,
            family.lastUsedAt.microseconds,
            family.expiresAt.microseconds
        )
    }

    /// Counts what has become of the refresh tokens of an application.
    func countRefresh(of client: ClientIdentifier, repeats: Int = 0, reuseAt: Date? = nil, revocations: Int = 0) throws
    {
        try run(
            """
            INSERT INTO refresh_statistics (client_id, repeats, reuses, last_reuse_at, revocations)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (client_id) DO UPDATE SET
                repeats = repeats + ?2, reuses = reuses + ?3, revocations = revocations + ?5,
                last_reuse_at = max(ifnull(last_reuse_at, ?4), ifnull(?4, last_reuse_at))
            """,
            client.rawValue,
            repeats,
            reuseAt == nil ? 0 : 1,
            reuseAt?.microseconds,
            revocations
        )
    }

    /// Writes a step of a line, unless the line, its grant or its person has ended, or it is not what it was; nil then.
    fileprivate func record(
        _ step: RefreshStep, of key: Data, at generation: Int, now: Date
    ) throws -> (grant: String, restingSince: Int64)? {
        let time = now.microseconds
        /// All rows are read, because a statement has done its work only when it has ended.
        func update(_ sql: String, _ next: Int? = nil) throws -> (grant: String, restingSince: Int64)? {
            try all(sql, values: [key, generation, time] + (next.map { [$0] } ?? [])) { columns in
                (try columns.text(), try columns.integer())
            }.first
        }
        switch step {
        case .advance(let next): return try update(RefreshFamily.advance, next)
        case .stay: return try update(RefreshFamily.stay)
        case .repeat:
            let repeated = try update(RefreshFamily.repetition)
            guard let repeated else { return nil }
            let client = try first("SELECT client_id FROM grants WHERE id = ?", repeated.grant) { columns in
                try columns.value(ClientIdentifier.init(_:))
            }
            if let client { try countRefresh(of: client, repeats: 1) }
            return repeated
        }
    }

    /// Whether a line, its grant and its person hold.
    fileprivate func holds(_ key: Data) throws -> Bool {
        try answers(
            """
            SELECT EXISTS (
                SELECT 1 FROM refresh_tokens JOIN grants ON grants.id = refresh_tokens.grant_id
                    JOIN people ON people.id = grants.person_id
                WHERE refresh_tokens.digest = ? AND grants.revoked_at IS NULL AND people.disabled_at IS NULL
            )
            """, key) == [true]
    }
}

extension RefreshFamily {
    fileprivate static let advance = step(
        "generation = ?4, rotated_at = ?3, repeats = 0, last_used_at = max(last_used_at, ?3)")
    fileprivate static let stay = step("last_used_at = max(last_used_at, ?3)")
    fileprivate static let repetition = step(
        "repeats = repeats + 1, last_used_at = max(last_used_at, ?3)", if: "AND repeats < \(repeatLimit)")

    /// A step of a line that is what it was, and whose grant and person have not ended.
    private static func step(_ change: String, if condition: String = "") -> String {
        """
        UPDATE refresh_tokens SET \(change)
        WHERE digest = ?1 AND generation = ?2 AND EXISTS (
            SELECT 1 FROM grants JOIN people ON people.id = grants.person_id
            WHERE grants.id = refresh_tokens.grant_id AND grants.revoked_at IS NULL AND people.disabled_at IS NULL
        ) \(condition)
        RETURNING grant_id, resting_since
        """
    }

    /// The columns with their table, so that a join can read them.
    static let columns = """
        refresh_tokens.digest, refresh_tokens.grant_id, refresh_tokens.generation, refresh_tokens.rotated_at,
        refresh_tokens.repeats, refresh_tokens.last_used_at, refresh_tokens.expires_at
        """

    init(_ columns: inout Columns) throws {
        self.init(
            digest: try columns.digest(),
            grantID: try columns.value(GrantIdentifier.init(_:)),
            generation: Int(try columns.integer()),
            rotatedAt: try columns.date(),
            repeats: Int(try columns.integer()),
            lastUsedAt: try columns.date(),
            expiresAt: try columns.date()
        )
    }
}

extension RefreshStatistics {
    fileprivate init(_ columns: inout Columns) throws {
        self.init()
        repeats = Int(try columns.integer())
        reuses = Int(try columns.integer())
        lastReuseAt = try columns.optionalDate()
        revocations = Int(try columns.integer())
    }
}
