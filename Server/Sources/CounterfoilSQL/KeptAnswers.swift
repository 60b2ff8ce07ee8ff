import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Notes a request before it is carried out, unless its key was used before.
    public func beginAnswer(
        to request: RepeatableRequest, atMost limit: Int, at now: Date
    ) async throws(StoreFault) -> BeginAnswerOutcome {
        try await commit { database in
            try database.send(
                "DELETE FROM kept_answers WHERE digest = ? AND expires_at <= ?", Data(request.digest.bytes),
                now.microseconds)
            if let known = try database.keptAnswer(to: request) { return known }
            let (count, first) = try database.keptAnswers(of: request, at: now)
            guard count < limit else { return .tooMany(until: first ?? request.expiresAt) }
            let added = try database.run(
                """
                INSERT INTO kept_answers (digest, content, client_id, expires_at) VALUES (?, ?, ?, ?)
                ON CONFLICT (digest) DO NOTHING
                """,
                Data(request.digest.bytes),
                Data(request.content.bytes),
                request.clientID.rawValue,
                request.expiresAt.microseconds
            )
            return added == 1 ? .begun : .pending
        }
    }

    /// Keeps the encrypted answer to a request, unless the user whom it is about was deleted meanwhile.
    public func keepAnswer(
        _ sealed: [UInt8], to digest: ArtefactDigest, about user: UserIdentifier?
    ) async throws(StoreFault) {
        try await commit { database in
            if let user,
                try database.answers("SELECT EXISTS (SELECT 1 FROM people WHERE id = ?)", user.rawValue) == [false]
            {
                return try database.send("DELETE FROM kept_answers WHERE digest = ?", Data(digest.bytes))
            }
            try database.send(
                "UPDATE kept_answers SET answer = ?2, person_id = ?3 WHERE digest = ?1", Data(digest.bytes),
                Data(sealed), user?.rawValue)
        }
    }

    /// Forgets a request that was refused.
    public func withdrawAnswer(to digest: ArtefactDigest) async throws(StoreFault) {
        try await commit { database in
            try database.send("DELETE FROM kept_answers WHERE digest = ? AND answer IS NULL", Data(digest.bytes))
        }
    }
}

extension SQLConnection {
    fileprivate func keptAnswer(to request: RepeatableRequest) throws -> BeginAnswerOutcome? {
        try first("SELECT content, answer FROM kept_answers WHERE digest = ?", Data(request.digest.bytes)) { columns in
            let content = try columns.digest()
            let answer = try columns.optionalBytes()
            guard content == request.content else { return .otherContent }
            return answer.map { .answered($0) } ?? .pending
        }
    }

    fileprivate func keptAnswers(of request: RepeatableRequest, at now: Date) throws -> (count: Int, first: Date?) {
        try first(
            "SELECT count(*), min(expires_at) FROM kept_answers WHERE client_id = ? AND expires_at > ?",
            request.clientID.rawValue, now.microseconds
        ) { columns in (Int(try columns.integer()), try columns.optionalDate()) } ?? (0, nil)
    }
}
