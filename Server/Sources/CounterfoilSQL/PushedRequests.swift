public import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Stores a pushed authorization request, unless its client has too many that have not expired.
    public func addPushedRequest(
        _ request: PushedRequest, within limits: PushedRequestLimits
    ) async throws(StoreFault) -> AddPushedRequestOutcome {
        try await commit { database in
            let exists = try database.answers(
                "SELECT EXISTS (SELECT 1 FROM clients WHERE id = ?)", request.clientID.rawValue)
            guard exists == [true] || request.clientID.isURL else { return .clientDeleted }
            guard try !database.isBeingRemoved(request.clientID) else { return .clientDeleted }
            if let first = try database.firstExpiry(of: request, beyond: limits) { return .tooMany(until: first) }
            try database.send(
                """
                INSERT INTO pushed_requests (\(PushedRequest.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                Data(request.digest.bytes),
                request.clientID.rawValue,
                request.parameters,
                request.source,
                request.pushedAt.microseconds,
                request.expiresAt.microseconds,
                request.openedAt?.microseconds
            )
            return .added
        }
    }

    /// Reads a pushed authorization request of a client; nil if there is none, or if it has expired.
    ///
    /// The first call for a request extends its lifetime. Every other call only reads.
    public func openPushedRequest(
        _ digest: ArtefactDigest, of client: ClientIdentifier, at now: Date, until later: Date
    ) async throws(StoreFault) -> PushedRequest? {
        let request = try await read { database in try database.pushedRequest(digest, of: client, at: now) }
        guard let request, request.openedAt == nil else { return request }
        return try await commit { database in
            // Of several concurrent openings, only one meets this condition. The others read what it has written.
            try database.send(
                """
                UPDATE pushed_requests SET opened_at = ?3, expires_at = max(expires_at, ?4)
                WHERE digest = ?1 AND client_id = ?2 AND opened_at IS NULL AND expires_at > ?3
                """,
                Data(digest.bytes),
                client.rawValue,
                now.microseconds,
                later.microseconds
            )
            return try database.pushedRequest(digest, of: client, at: now)
        }
    }

    /// Removes a pushed authorization request; returns false if there is none with this digest.
    @discardableResult
    public func removePushedRequest(_ digest: ArtefactDigest) async throws(StoreFault) -> Bool {
        try await commit { database in try database.removePushedRequest(digest) }
    }
}

extension PushedRequest {
    static let columns =
        "digest, client_id, parameters, source, pushed_at, expires_at, opened_at"

    /// The queries that return the number of requests that have not expired, and the time at which the first expires.
    static let countOfClient = """
        SELECT count(*), min(expires_at) FROM pushed_requests WHERE client_id = ?1 AND expires_at > ?2
        """
    static let countFromSource = """
        SELECT count(*), min(expires_at) FROM pushed_requests
        WHERE client_id = ?1 AND \(isInNetwork) AND expires_at > ?2
        """
    /// The queries for the requests of all clients with documents; the character after `/` is `0`.
    static let countOfDocuments = """
        SELECT count(*), min(expires_at) FROM pushed_requests
        WHERE client_id >= 'https://' AND client_id < 'https:/0' AND expires_at > ?2
        """
    static let countOfDocumentsFromSource = countOfDocuments + " AND \(isInNetwork)"
    /// The condition that a source is in a network: from ?3 to ?4, with a length from ?5 to ?6.
    private static let isInNetwork = "source >= ?3 AND source <= ?4 AND length(source) BETWEEN ?5 AND ?6"

    init(_ columns: inout Columns) throws {
        self.init(
            digest: try columns.digest(),
            clientID: try columns.value(ClientIdentifier.init(_:)),
            parameters: try columns.text(),
            source: try columns.optionalText(),
            pushedAt: try columns.date(),
            expiresAt: try columns.date(),
            openedAt: try columns.optionalDate()
        )
    }
}

extension SQLConnection {
    /// Removes a pushed authorization request; returns false if there is none with this digest.
    @discardableResult
    func removePushedRequest(_ digest: ArtefactDigest) throws -> Bool {
        try run("DELETE FROM pushed_requests WHERE digest = ?", Data(digest.bytes)) == 1
    }

    fileprivate func pushedRequest(
        _ digest: ArtefactDigest, of client: ClientIdentifier, at now: Date
    ) throws -> PushedRequest? {
        try first(
            """
            SELECT \(PushedRequest.columns) FROM pushed_requests
            WHERE digest = ? AND client_id = ? AND expires_at > ? AND \(ClientRemovals.isOfNone)
            """,
            Data(digest.bytes), client.rawValue, now.microseconds, read: PushedRequest.init(_:))
    }

    /// Returns the time at which the next request of the client expires, if one more would exceed a limit.
    fileprivate func firstExpiry(of request: PushedRequest, beyond limits: PushedRequestLimits) throws -> Date? {
        let ofAll = request.clientID.isURL ? PushedRequest.countOfDocuments : PushedRequest.countOfClient
        let ofNetwork =
            request.clientID.isURL ? PushedRequest.countOfDocumentsFromSource : PushedRequest.countFromSource
        let values: [(any SQLValue)?] = [request.clientID.rawValue, request.pushedAt.microseconds]
        let reached = try limits.shared.reached(by: request.source.map { CountedSource($0) }) {
            try pushedCount(ofAll, values)
        } of: { network in
            let lengths = network.lengths
            return try pushedCount(
                ofNetwork, values + [network.first, network.last, lengths.lowerBound, lengths.upperBound])
        }
        return reached.map { $0.first ?? request.pushedAt }
    }

    private func pushedCount(_ query: String, _ values: [(any SQLValue)?]) throws -> SharedLimit.Count<Date> {
        try first(query, values: values) { columns in
            SharedLimit.Count(Int(try columns.integer()), first: try columns.optionalDate())
        } ?? SharedLimit.Count(0, first: nil)
    }
}
