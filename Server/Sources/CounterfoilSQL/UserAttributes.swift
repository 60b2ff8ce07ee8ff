public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads the groups and attributes of a user.
    public func attributes(of user: UserIdentifier) async throws(StoreFault) -> UserAttributes {
        try await read { database in try database.attributes(of: user) }
    }

    /// Replaces the groups and attributes of a user, if they still equal `former`.
    ///
    /// Only what differs is written, so that a trigger records only what the user loses.
    public func replaceAttributes(
        of user: UserIdentifier, requiredRole: UserQuery.Role?, from former: UserAttributes,
        by attributes: UserAttributes, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUserOutcome {
        try await commit(ending: .sometimes(.userGroup, .userAttribute), recording: events) { database in
            let exists = try database.answers("SELECT EXISTS (SELECT 1 FROM people WHERE id = ?)", user.rawValue)
            guard exists == [true] else { return .notFound }
            guard try database.has(requiredRole, user) else { return .changedMeanwhile }
            let stored = try database.attributes(of: user)
            guard stored == former else { return .changedMeanwhile }
            for group in stored.groups.subtracting(attributes.groups) {
                try database.send(
                    "DELETE FROM user_groups WHERE person_id = ? AND name = ?", user.rawValue, group.rawValue)
            }
            for group in attributes.groups.subtracting(stored.groups) { try database.insert(group, of: user) }
            for name in stored.values.keys where attributes.values[name] == nil {
                try database.send(
                    "DELETE FROM user_attributes WHERE person_id = ? AND name = ?", user.rawValue, name.rawValue)
            }
            for (name, value) in attributes.values where stored.values[name] != value {
                try database.set(name, to: value, of: user)
            }
            try database.send("UPDATE people SET changed_at = ?2 WHERE id = ?1", user.rawValue, time.microseconds)
            return .updated
        }
    }
}

extension StoreQuery {
    /// The groups of a user, one more than a user can have.
    package static let groups = """
        SELECT name FROM user_groups WHERE person_id = ? ORDER BY name LIMIT \(UserAttributes.groupLimit + 1)
        """
    /// The attributes of a user, one more than a user can have.
    package static let attributes = """
        SELECT name, value FROM user_attributes WHERE person_id = ? ORDER BY name
        LIMIT \(UserAttributes.attributeLimit + 1)
        """
}

extension SQLConnection {
    func insert(_ group: GroupName, of user: UserIdentifier) throws {
        try send("INSERT INTO user_groups (person_id, name) VALUES (?, ?)", user.rawValue, group.rawValue)
    }

    func set(_ name: ClaimName, to value: AttributeValue, of user: UserIdentifier) throws {
        try send(
            """
            INSERT INTO user_attributes (person_id, name, value) VALUES (?, ?, ?)
            ON CONFLICT (person_id, name) DO UPDATE SET value = excluded.value
            """, user.rawValue, name.rawValue, value.json)
    }

    fileprivate func attributes(of user: UserIdentifier) throws -> UserAttributes {
        let groups = try all(StoreQuery.groups, user.rawValue) { columns in
            columns.record = "group of a user"
            return try columns.value(GroupName.init(_:))
        }
        let values = try all(StoreQuery.attributes, user.rawValue) { columns in
            columns.record = "attribute of a user"
            return (
                name: try columns.word(ClaimName.init(_:)), value: try columns.word { AttributeValue(json: $0) }
            )
        }
        do throws(UserAttributes.Refusal) {
            return try UserAttributes(
                groups: Set(groups), values: Dictionary(values.map { ($0.name, $0.value) }) { $1 })
        } catch {
            throw StoreFault.damaged("a user has more groups or attributes than a user can have")
        }
    }
}
