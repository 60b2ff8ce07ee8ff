package import CounterfoilStore

/// One thing that has ended access to something, such as a revoked grant.
///
/// It holds identifiers only: no secret and no name of a person.
package struct Ending: Sendable, Hashable {
    /// The kind of what has ended.
    package enum Kind: Sendable, Hashable, CaseIterable {
        case session, password, passkey, secondFactor, recoveryCode, userDisabled, userDemoted, userDeleted,
            userGroup, userAttribute, userIdentity, invitation
        case grant, grantScope, consent
        case client, clientChanged, clientSuspended, clientKeys, clientRegistrationToken, clientMachineScope,
            clientSecret, clientDeveloper
        case registrationToken, api, apiChanged, apiSecret, scope, scopeReserved, policyChanged, signingKey,
            webhook

        /// The name in the store and in a journal.
        package var name: String {
            switch self {
            case .session: "session"
            case .password: "password"
            case .passkey: "passkey"
            case .secondFactor: "second-factor"
            case .recoveryCode: "recovery-code"
            case .userDisabled: "user-disabled"
            case .userDemoted: "user-demoted"
            case .userDeleted: "user-deleted"
            case .userGroup: "user-group"
            case .userAttribute: "user-attribute"
            case .userIdentity: "user-identity"
            case .invitation: "invitation"
            case .grant: "grant"
            case .grantScope: "grant-scope"
            case .consent: "consent"
            case .client: "client"
            case .clientChanged: "client-changed"
            case .clientSuspended: "client-suspended"
            case .clientKeys: "client-keys"
            case .clientRegistrationToken: "client-registration-token"
            case .clientMachineScope: "client-machine-scope"
            case .clientSecret: "client-secret"
            case .clientDeveloper: "client-developer"
            case .registrationToken: "registration-token"
            case .api: "api"
            case .apiChanged: "api-changed"
            case .apiSecret: "api-secret"
            case .scope: "scope"
            case .scopeReserved: "scope-reserved"
            case .policyChanged: "policy-changed"
            case .signingKey: "signing-key"
            case .webhook: "webhook"
            }
        }

        /// Returns the kind with a name; nil if this version does not know it.
        package init?(name: String) {
            guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = kind
        }
    }

    /// The position in the sequence of all endings of the store, which has no gap.
    package let number: Int64
    /// The time of the ending by the clock of the database, in microseconds since 1970.
    package let at: Int64
    /// The name of the kind, which a newer version may have written.
    package let kind: String
    /// The identifier of what has ended.
    ///
    /// For a user, a second factor and a co-developer, it is the number of the user in the store. For a session, a
    /// passkey, a recovery code, an invitation, a secret or a token, it is the SHA-256 digest.
    package let subject: String
    /// The scopes that a grant or a client has left, the client of a consent or a co-developer, the name of a group or
    /// an attribute, or the digest of a second factor that the user has set up, which ends the sign-in without it.
    package let detail: String?

    package init(number: Int64, at: Int64, kind: String, subject: String, detail: String?) {
        self.number = number
        self.at = at
        self.kind = kind
        self.subject = subject
        self.detail = detail
    }

    /// Returns true if two records are of the same ending; the times in a journal are in milliseconds.
    ///
    /// The number alone does not identify an ending: a database that lost its last commits uses their numbers again.
    package func isSame(as other: Ending) -> Bool {
        number == other.number && kind == other.kind && subject == other.subject && detail == other.detail
            && abs(at - other.at) < 2_000
    }
}

/// The point in the endings of a store up to which a copy of it knows them.
package struct EndingsPosition: Sendable, Hashable {
    /// The random identifier of the sequence, which a restore renews.
    package let identity: String
    /// The identity before the last restore, if the sequence continues that one.
    package let former: String?
    /// The number at which this sequence began.
    package let first: Int64
    /// The number of the last ending; that of the first one is 1.
    package let last: Int64
    /// The number of the last ending when a restore began that is not finished; nil if none is in progress.
    package let restoringFrom: Int64?

    package init(
        identity: String, former: String? = nil, first: Int64 = 0, last: Int64, restoringFrom: Int64? = nil
    ) {
        self.identity = identity
        self.former = former
        self.first = first
        self.last = last
        self.restoringFrom = restoringFrom
    }
}

extension SQLConnection {
    /// Reads the position of the store in its endings.
    package func endingsPosition() throws -> EndingsPosition {
        let position = try first(
            "SELECT identity, former, first_number, \(StoreQuery.lastEnding), restoring_from FROM endings_record"
        ) { columns in
            EndingsPosition(
                identity: try columns.text(), former: try columns.optionalText(), first: try columns.integer(),
                last: try columns.integer(), restoringFrom: try columns.optionalInteger())
        }
        guard let position else { throw StoreFault.damaged("the table endings_record has no row") }
        return position
    }

    /// Reads endings after a number, in their order.
    package func endings(after number: Int64, through last: Int64 = .max, atMost limit: Int = .max) throws -> [Ending] {
        try all(
            """
            SELECT number, at, kind, subject, detail FROM endings WHERE number > ?1 AND number <= ?2
            ORDER BY number LIMIT ?3
            """, number, last, limit
        ) { columns in
            Ending(
                number: try columns.integer(), at: try columns.integer(), kind: try columns.text(),
                subject: try columns.text(), detail: try columns.optionalText())
        }
    }

    /// Returns the number before the first ending that the store still has, or its last number if it has none.
    package func endingsBegin() throws -> Int64 {
        let first = try first("SELECT min(number) FROM endings") { columns in try columns.optionalInteger() }
        return try (first ?? nil).map { $0 - 1 } ?? endingsPosition().last
    }
}

extension StoreQuery {
    /// The number of the last ending.
    ///
    /// PostgreSQL keeps it in the record only when it deletes endings, because many updates of one row in a transaction
    /// are slow.
    static let lastEnding = "max(last_number, coalesce((SELECT max(number) FROM endings), 0))"
}

extension SQLConnection {
    /// Notes the number of the last ending, before endings are deleted.
    func keepLastEnding() throws {
        try send(
            "UPDATE endings_record SET last_number = \(StoreQuery.lastEnding) WHERE last_number < \(StoreQuery.lastEnding)"
        )
    }
}

/// An error because of which a store is not used: a restore of it was interrupted.
package struct UnfinishedRestore: Error, Sendable, Hashable, CustomStringConvertible {
    package init() {}

    package var description: String {
        "a restore of this store was interrupted, and what had ended may be valid in it; run after-restore again"
    }
}

extension SQLStore {
    /// Throws ``UnfinishedRestore`` if a restore of the store was interrupted.
    package func checkRestored() async throws {
        let position = try await read { try $0.endingsPosition() }
        guard position.restoringFrom == nil else { throw UnfinishedRestore() }
    }

    /// Returns true if no server has run on the store, and no command has changed it, as after a restore that failed.
    ///
    /// A server creates signing keys when it starts. Only a restore deletes all of them: it notes before that it has
    /// begun, and records afterwards that it is complete.
    package func isUnused() async throws(StoreFault) -> Bool {
        try await read { connection in
            try connection.answers(
                """
                SELECT NOT EXISTS (SELECT 1 FROM signing_keys) AND NOT EXISTS (SELECT 1 FROM audit)
                    AND NOT EXISTS (SELECT 1 FROM endings_record WHERE restoring_from IS NOT NULL)
                """) == [true]
        }
    }
}
