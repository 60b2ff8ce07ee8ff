public import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Stores a new device authorization, unless a limit is reached, its user code is taken or its client was deleted.
    public func addDeviceAuthorization(
        _ authorization: DeviceAuthorization, within limits: DeviceAuthorizationLimits
    ) async throws(StoreFault) -> AddDeviceAuthorizationOutcome {
        try await commit { database in
            let now = authorization.requestedAt.microseconds
            guard try authorization.clientID.isURL || database.client(authorization.clientID) != nil else {
                return .clientDeleted
            }
            guard try !database.isBeingRemoved(authorization.clientID) else { return .clientDeleted }
            let reached = try limits.shared.reached(by: CountedSource(authorization.source)) {
                try database.deviceCount(DeviceAuthorization.count, now, limits.total)
            } of: { network in
                try database.deviceCount(
                    DeviceAuthorization.countInNetwork, now, limits.total, network.first, network.last,
                    network.lengths.lowerBound, network.lengths.upperBound)
            }
            guard reached == nil else { return .tooMany }
            let isTaken = try database.answers(
                "SELECT EXISTS (SELECT 1 FROM device_authorizations WHERE user_code = ?)",
                Data(authorization.userCode.bytes))
            guard isTaken == [false] else { return .userCodeTaken }
            try database.insert(authorization)
            return .added
        }
    }

    /// Reads the device authorization with a user code; nil if it is unknown, answered or expired.
    public func deviceAuthorization(
        userCode: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> DeviceAuthorization? {
        try await read { database in
            try database.first(
                """
                SELECT \(DeviceAuthorization.columns) FROM device_authorizations
                WHERE user_code = ? AND denied_at IS NULL AND expires_at > ? AND \(ClientRemovals.isOfNone)
                """,
                Data(userCode.bytes),
                time.microseconds,
                read: DeviceAuthorization.init(_:)
            )
        }
    }

    /// Reads the state of a device authorization, and records the poll if the request is pending and belongs to the
    /// client.
    public func pollDevice(
        _ digest: ArtefactDigest, by client: ClientIdentifier, at time: Date
    ) async throws(StoreFault) -> DevicePoll {
        try await commit { database in
            guard var authorization = try database.deviceAuthorization(digest) else {
                return try database.approvedDevice(digest)
            }
            guard authorization.clientID == client, authorization.isPending(at: time) else {
                return .unanswered(authorization, isTooEarly: false)
            }
            let isTooEarly = authorization.poll(at: time)
            try database.send(
                "UPDATE device_authorizations SET poll_interval = ?2, last_polled_at = ?3 WHERE digest = ?1",
                Data(digest.bytes),
                authorization.interval,
                authorization.lastPolledAt?.microseconds
            )
            return .unanswered(authorization, isTooEarly: isTooEarly)
        }
    }

    /// Denies a device authorization, unless it was answered before or has expired.
    public func denyDevice(
        _ digest: ArtefactDigest, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> DenyDeviceOutcome {
        try await commit(recording: events) { database in
            let denied = try database.run(
                "UPDATE device_authorizations SET denied_at = ?2 WHERE \(DeviceAuthorization.isPendingAtSecond)",
                Data(digest.bytes),
                time.microseconds
            )
            return denied == 1 ? .denied : .notPending
        }
    }
}

extension SQLConnection {
    fileprivate func deviceCount(_ query: String, _ values: (any SQLValue)?...) throws -> SharedLimit.Count<Date> {
        let number = try first(query, values: values) { columns in Int(try columns.integer()) }
        return SharedLimit.Count(number ?? 0, first: nil)
    }

    /// Deletes the pending device authorization that a `device_code` replaces; returns false if there is none.
    func replaceDevice(by code: CodeRecord, of grant: Grant) throws -> Bool {
        try run(
            "DELETE FROM device_authorizations WHERE \(DeviceAuthorization.isPendingAtSecond) AND client_id = ?3",
            Data(code.digest.bytes),
            grant.createdAt.microseconds,
            grant.clientID.rawValue
        ) == 1
    }

    fileprivate func deviceAuthorization(_ digest: ArtefactDigest) throws -> DeviceAuthorization? {
        try first(
            """
            SELECT \(DeviceAuthorization.columns) FROM device_authorizations
            WHERE digest = ? AND \(ClientRemovals.isOfNone)
            """,
            Data(digest.bytes),
            read: DeviceAuthorization.init(_:)
        )
    }

    /// Reads the code and the session of an approved device authorization.
    fileprivate func approvedDevice(_ digest: ArtefactDigest) throws -> DevicePoll {
        guard let facts = try code(digest) else { return .unknown }
        let session = try first(
            "SELECT \(Session.columns) FROM sessions WHERE sessions.id = ? AND sessions.person_id = ?",
            facts.grant.sessionID?.rawValue,
            facts.user.id.rawValue,
            read: Session.init(_:)
        )
        return .approved(facts, session: session)
    }

    fileprivate func insert(_ authorization: DeviceAuthorization) throws {
        try send(
            """
            INSERT INTO device_authorizations (
                digest, user_code, client_id, scope, resources, code_challenge, requested_at, expires_at, source,
                user_agent, device_name, poll_interval, last_polled_at, denied_at
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            Data(authorization.digest.bytes),
            Data(authorization.userCode.bytes),
            authorization.clientID.rawValue,
            authorization.scope.description,
            authorization.resources.map(\.rawValue).joined(separator: " "),
            authorization.codeChallenge?.rawValue,
            authorization.requestedAt.microseconds,
            authorization.expiresAt.microseconds,
            authorization.source,
            authorization.userAgent,
            authorization.device.name,
            authorization.interval,
            authorization.lastPolledAt?.microseconds,
            authorization.deniedAt?.microseconds
        )
    }
}

extension DeviceAuthorization {
    /// The number of device authorizations that expire after ?1, at most ?2.
    static let count = """
        SELECT count(*) FROM (SELECT 1 FROM device_authorizations WHERE expires_at > ?1 LIMIT ?2) AS found
        """

    /// The number of those whose source is in a network: from ?3 to ?4, with a length from ?5 to ?6.
    static let countInNetwork = """
        SELECT count(*) FROM (
            SELECT 1 FROM device_authorizations
            WHERE source >= ?3 AND source <= ?4 AND length(source) BETWEEN ?5 AND ?6 AND expires_at > ?1 LIMIT ?2
        ) AS found
        """

    /// The condition that the device authorization ?1 can be answered at the time ?2.
    fileprivate static let isPendingAtSecond =
        "digest = ?1 AND denied_at IS NULL AND expires_at > ?2 AND \(ClientRemovals.isOfNone)"

    fileprivate static let columns = """
        digest, user_code, client_id, scope, resources, code_challenge, requested_at, expires_at, source, user_agent,
        device_name, poll_interval, last_polled_at, denied_at
        """

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "device authorization"
        self.init(
            digest: try columns.digest(),
            userCode: try columns.digest(),
            clientID: try columns.value(ClientIdentifier.init(_:)),
            scope: try columns.scope(),
            resources: try columns.resources(),
            codeChallenge: try columns.optionalForm { CodeChallenge($0) },
            requestedAt: try columns.date(),
            expiresAt: try columns.date(),
            source: try columns.text(),
            userAgent: try columns.text(),
            deviceName: try columns.optionalText(),
            interval: Int(try columns.integer()),
            lastPolledAt: try columns.optionalDate(),
            deniedAt: try columns.optionalDate()
        )
    }
}
