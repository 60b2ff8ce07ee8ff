public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads the users at a number in the order of the usernames, among the first ones.
    public func users(
        from offset: Int, limit: Int, state: UserQuery.State?
    ) async throws(StoreFault) -> UserListing {
        try await read { database in
            let next = try database.first(StoreQuery.endOfListing(state)) { columns in try columns.text() }
            let end = next ?? UserQuery.end
            let count = try database.first(StoreQuery.countOfListing(state), end) { columns in
                Int(try columns.integer())
            }
            let users = try database.list(
                StoreQuery.listing(state), end, min(max(limit, 0), UserListing.limit),
                min(max(offset, 0), UserListing.limit), noting: unsupported, read: User.init(_:))
            return UserListing(users: users, count: count ?? 0, isComplete: next == nil)
        }
    }

    /// Reads at most `limit` users with an external identifier.
    public func users(
        withExternalID id: ExternalIdentifier, limit: Int
    ) async throws(StoreFault) -> [User] {
        try await read { database in
            try database.list(
                StoreQuery.usersWithExternalID, id.rawValue, limit, noting: unsupported, read: User.init(_:))
        }
    }

    /// Changes the display name, email address, profile and standing of a user in one transaction.
    public func provisionUser(
        _ user: User, from former: User, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ProvisionUserOutcome {
        try await commit(ending: .sometimes(.userDisabled, .session, .grant), recording: events) { database in
            // Nothing is written before the last reason to refuse the change.
            let isDisabling = former.disabledAt == nil && user.disabledAt != nil
            if try database.isSo("disabled_at IS \(former.disabledAt == nil ? "NOT NULL" : "NULL")", of: user.id) {
                return .changedMeanwhile
            }
            if isDisabling, try database.obstacle(toLosing: user.id) == .lastOwner { return .lastOwner }
            switch try database.update(user, from: former, at: time) {
            case .notFound: return .notFound
            case .changedMeanwhile: return .changedMeanwhile
            case .emailTaken: return .emailTaken
            case .updated: break
            }
            if isDisabling {
                try database.disable(user.id, at: time)
            } else if user.disabledAt == nil, former.disabledAt != nil {
                try database.send("UPDATE people SET disabled_at = NULL WHERE id = ?", user.id.rawValue)
            }
            return .updated
        }
    }
}

extension SQLConnection {
    /// Disables a user, and ends the sessions and the links.
    func disable(_ user: UserIdentifier, at time: Date) throws {
        try send("UPDATE people SET disabled_at = ?2, changed_at = ?2 WHERE id = ?1", user.rawValue, time.microseconds)
        _ = try endSessions(of: user, at: time)
        try deleteLinks(of: user)
    }
}

extension StoreQuery {
    /// The query for the username before which a listing ends; no row if it has every user.
    package static func endOfListing(_ state: UserQuery.State?) -> String {
        // Users who are not disabled have no index of their own: they are found among the first of all users.
        """
        SELECT people.username FROM people
        WHERE people.username > '' \(state == .disabled ? "AND people.disabled_at IS NOT NULL" : "")
        ORDER BY people.username LIMIT 1 OFFSET \(UserListing.limit)
        """
    }

    /// The query for the number of users before the username ?1.
    package static func countOfListing(_ state: UserQuery.State?) -> String {
        "SELECT count(*) FROM people WHERE people.username < ?1 AND \(condition(state))"
    }

    /// The query for ?2 users before the username ?1, without the first ?3 of them.
    package static func listing(_ state: UserQuery.State?) -> String {
        """
        SELECT \(User.columns) FROM people WHERE people.username < ?1 AND \(condition(state))
        ORDER BY people.username LIMIT ?2 OFFSET ?3
        """
    }

    /// The query for ?2 users with the external identifier ?1.
    package static let usersWithExternalID = """
        SELECT \(User.columns) FROM people WHERE people.external_id = ?1 ORDER BY people.username LIMIT ?2
        """

    private static func condition(_ state: UserQuery.State?) -> String {
        switch state {
        case .enabled: "people.disabled_at IS NULL"
        case .disabled: "people.disabled_at IS NOT NULL"
        case nil: "people.username > ''"
        }
    }
}
