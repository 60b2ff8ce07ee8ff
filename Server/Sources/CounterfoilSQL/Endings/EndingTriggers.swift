/// The triggers that record in the table `endings` each thing that ends access, in the transaction that ends it.
///
/// A trigger sees the change of every process, also that of a command or of another program. A user is recorded by
/// number, because the database must not have the identifier of a user after the deletion of the account. The list
/// belongs to a step of the schema of both databases, so it never changes after its release.
package struct EndingTrigger: Sendable {
    /// The change of a row.
    private enum Change: Sendable {
        case insertion
        case deletion
        /// A deletion before the time in a column; what is deleted later has already ended.
        ///
        /// A row without a value in an optional column never expires. The condition is for a row of `expired_removal`,
        /// with which the maintenance deletes what has expired.
        case deletionBefore(column: String, isOptional: Bool = false, unless: String)
        /// A change of a column, with the condition under which it ends something.
        case update(columns: String, condition: String)
    }

    /// A part of a row that identifies what has ended.
    private enum Part: Sendable {
        case text(String)
        /// A column with the identifier of a user, as the number of the user.
        case user(String)
        /// A column with bytes, as a hexadecimal number.
        case hexadecimal(String)
        /// An SQL expression for both databases.
        case expression(String)
    }

    private let kind: Ending.Kind
    private let table: String
    private let change: Change
    private let subject: Part
    private let detail: Part?

    private init(
        _ kind: Ending.Kind, _ table: String, _ change: Change, subject: Part, detail: Part? = nil
    ) {
        self.kind = kind
        self.table = table
        self.change = change
        self.subject = subject
        self.detail = detail
    }

    /// Every trigger.
    package static let all = users + grants + clients + settings

    private static let users = [
        EndingTrigger(
            .session, "sessions",
            .deletionBefore(
                column: "expires_at", unless: "OLD.expires_at < expired_before OR OLD.last_seen_at < unseen_since"),
            subject: .hexadecimal("digest")),
        EndingTrigger(
            .password, "people",
            // A user who had no password loses nothing by a new one.
            .update(
                columns: "password_hash",
                condition: "OLD.password_hash IS NOT NULL AND coalesce(NEW.password_hash, '') <> OLD.password_hash"),
            subject: .text("number")),
        EndingTrigger(.passkey, "passkeys", .deletion, subject: .hexadecimal("digest")),
        EndingTrigger(
            .secondFactor, "second_factors", .insertion, subject: .user("person_id"), detail: .hexadecimal("digest")),
        EndingTrigger(.recoveryCode, "recovery_codes", .deletion, subject: .hexadecimal("digest")),
        EndingTrigger(
            .userDisabled, "people",
            .update(columns: "disabled_at", condition: "OLD.disabled_at IS NULL AND NEW.disabled_at IS NOT NULL"),
            subject: .text("number")),
        EndingTrigger(
            .userDemoted, "people",
            .update(
                columns: "role", condition: "OLD.role IS NOT NULL AND coalesce(NEW.role, '') <> OLD.role"),
            subject: .text("number")),
        EndingTrigger(.userDeleted, "people", .deletion, subject: .text("number")),
        EndingTrigger(
            .userGroup, "user_groups", .deletion, subject: .user("person_id"), detail: .expression("OLD.name")),
        EndingTrigger(
            .userAttribute, "user_attributes", .deletion, subject: .user("person_id"), detail: .expression("OLD.name")),
        EndingTrigger(
            .userAttribute, "user_attributes", .update(columns: "value", condition: "NEW.value <> OLD.value"),
            subject: .user("person_id"), detail: .expression("OLD.name")),
        EndingTrigger(.userIdentity, "user_identities", .deletion, subject: .text("id")),
        EndingTrigger(
            .invitation, "invitations",
            .deletionBefore(column: "expires_at", unless: "OLD.expires_at < expired_before"),
            subject: .hexadecimal("digest")),
    ]

    private static let grants = [
        EndingTrigger(
            .grant, "grants",
            .update(columns: "revoked_at", condition: "OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL"),
            subject: .text("id")),
        EndingTrigger(
            .grantScope, "grants",
            .update(
                columns: "scope, claim_scope",
                condition: "NEW.revoked_at IS NULL AND (NEW.scope <> OLD.scope OR NEW.claim_scope <> OLD.claim_scope)"),
            // No scope contains a quotation mark (RFC 6749 §3.3).
            subject: .text("id"), detail: .expression("NEW.scope || '\"' || NEW.claim_scope")),
        EndingTrigger(
            .consent, "consents", .deletion, subject: .user("person_id"), detail: .expression("OLD.client_id")),
        EndingTrigger(
            .consent, "consents",
            .update(
                columns: "remembered, remembered_at",
                condition: lostSome("remembered", upTo: "' '") + " OR " + lostSome("remembered_at", upTo: lineFeed)),
            subject: .user("person_id"), detail: .expression("OLD.client_id")),
    ]

    private static let lineFeed = "'\n'"

    /// The condition that a list was changed otherwise than by elements at its end.
    private static func lostSome(_ column: String, upTo delimiter: String) -> String {
        """
        (OLD.\(column) <> '' AND substr(NEW.\(column) || \(delimiter), 1, length(OLD.\(column)) + 1)
            <> OLD.\(column) || \(delimiter))
        """
    }

    private static let clients = [
        EndingTrigger(.client, "clients", .deletion, subject: .text("id")),
        EndingTrigger(
            .clientChanged, "clients",
            .update(columns: "revision", condition: "NEW.revision <> OLD.revision"),
            subject: .text("id")),
        EndingTrigger(
            .clientSuspended, "clients",
            .update(columns: "suspended_at", condition: "OLD.suspended_at IS NULL AND NEW.suspended_at IS NOT NULL"),
            subject: .text("id")),
        EndingTrigger(
            .clientKeys, "clients",
            .update(
                columns: "keys, keys_uri",
                condition: "NEW.source <> 'documents' AND (OLD.keys IS NOT NULL OR OLD.keys_uri IS NOT NULL)"
                    + " AND (coalesce(NEW.keys <> OLD.keys, (NEW.keys IS NULL) <> (OLD.keys IS NULL))"
                    + " OR coalesce(NEW.keys_uri, '') <> coalesce(OLD.keys_uri, ''))"),
            subject: .text("id")),
        EndingTrigger(
            .clientRegistrationToken, "clients",
            .update(
                columns: "registration_access_token",
                condition: "OLD.registration_access_token IS NOT NULL"
                    + " AND (NEW.registration_access_token IS NULL"
                    + " OR NEW.registration_access_token <> OLD.registration_access_token)"),
            subject: .text("id")),
        EndingTrigger(
            .clientMachineScope, "clients",
            .update(columns: "machine_scope", condition: "NEW.machine_scope <> OLD.machine_scope"),
            subject: .text("id"), detail: .expression("NEW.machine_scope")),
        EndingTrigger(.clientSecret, "client_secrets", .deletion, subject: .hexadecimal("digest")),
        EndingTrigger(
            .clientDeveloper, "client_developers",
            // Only a question has a time.
            .deletionBefore(column: "expires_at", isOptional: true, unless: "OLD.expires_at < expired_before"),
            subject: .user("person_id"), detail: .expression("OLD.client_id")),
    ]

    private static let settings = [
        EndingTrigger(
            .registrationToken, "initial_access_tokens",
            .deletionBefore(column: "expires_at", unless: "OLD.expires_at < expired_before"),
            subject: .hexadecimal("digest")),
        EndingTrigger(.api, "resources", .deletion, subject: .text("client_id")),
        EndingTrigger(
            .apiChanged, "resources",
            .update(
                columns: "scope, token_type, requires_bound_tokens",
                condition: "NEW.scope <> OLD.scope OR NEW.token_type <> OLD.token_type"
                    + " OR NEW.requires_bound_tokens <> OLD.requires_bound_tokens"),
            subject: .text("client_id")),
        EndingTrigger(
            .apiSecret, "resources", .update(columns: "secret", condition: "NEW.secret <> OLD.secret"),
            subject: .text("client_id")),
        EndingTrigger(.scope, "scopes", .deletion, subject: .text("name")),
        EndingTrigger(
            .scopeReserved, "scopes",
            .update(columns: "is_reserved", condition: "NEW.is_reserved > OLD.is_reserved"), subject: .text("name")),
        EndingTrigger(.policyChanged, "unregistered_client_policy", .insertion, subject: .text("id")),
        EndingTrigger(
            .policyChanged, "unregistered_client_policy",
            .update(columns: "revision", condition: "NEW.revision <> OLD.revision"), subject: .text("id")),
        EndingTrigger(.signingKey, "signing_keys", .deletion, subject: .text("id")),
        EndingTrigger(.webhook, "webhooks", .deletion, subject: .text("id")),
        // A new form of the same secret, encrypted with another server key, has the former revision.
        EndingTrigger(
            .webhook, "webhooks", .update(columns: "revision", condition: "NEW.revision <> OLD.revision"),
            subject: .text("id")),
    ]

    /// The statements that create the triggers, in their order.
    package static func statements(for dialect: SchemaDialect) -> [String] {
        all.flatMap { $0.statements(for: dialect) }
    }

    private func statements(for dialect: SchemaDialect) -> [String] {
        let name = "\(table)_\(changeName)_ends_\(kind.name.replacing("-", with: "_"))"
        let values =
            "'\(kind.name)', \(value(of: subject, in: dialect)), \(detail.map { value(of: $0, in: dialect) } ?? "NULL")"
        switch dialect {
        case .sqlite:
            let conditions = [condition(in: dialect), isNotPruned].compactMap { $0 }
            let when = conditions.isEmpty ? "" : " WHEN \(conditions.joined(separator: " AND "))"
            return [
                """
                CREATE TRIGGER \(name) AFTER \(event) ON \(table)\(when) BEGIN
                    UPDATE endings_record SET last_number = last_number + 1;
                    INSERT INTO endings (number, at, kind, subject, detail)
                    SELECT last_number, \(now(in: dialect)), \(values)
                    FROM endings_record;
                END
                """
            ]
        case .postgreSQL:
            let when = condition(in: dialect).map { " WHEN \($0)" } ?? ""
            // The condition of a trigger cannot contain a query.
            let record = "PERFORM record_ending(\(values));"
            return [
                """
                CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS $body$
                BEGIN
                    \(isNotPruned.map { "IF \($0) THEN \(record) END IF;" } ?? record)
                    RETURN NULL;
                END
                $body$
                """,
                """
                CREATE TRIGGER \(name) AFTER \(event) ON \(table) FOR EACH ROW\(when)
                    EXECUTE FUNCTION \(name)()
                """,
            ]
        }
    }

    private var changeName: String {
        switch change {
        case .insertion: "insertion"
        case .deletion, .deletionBefore: "deletion"
        case .update: "change"
        }
    }

    /// The row that has the identifier.
    private var row: String {
        if case .insertion = change { "NEW" } else { "OLD" }
    }

    private var event: String {
        switch change {
        case .insertion: "INSERT"
        case .deletion, .deletionBefore: "DELETE"
        case .update(let columns, _): "UPDATE OF \(columns)"
        }
    }

    /// The condition on the row; nil for every row.
    private func condition(in dialect: SchemaDialect) -> String? {
        switch change {
        case .insertion, .deletion: nil
        case .deletionBefore(let column, let isOptional, _):
            "(\(isOptional ? "OLD.\(column) IS NULL OR " : "")OLD.\(column) > \(now(in: dialect)))"
        case .update(_, let condition): "(\(condition))"
        }
    }

    /// The condition that the maintenance does not delete the row because it has expired; nil if it never does.
    private var isNotPruned: String? {
        guard case .deletionBefore(_, _, let condition) = change else { return nil }
        return "NOT EXISTS (SELECT 1 FROM expired_removal WHERE \(condition))"
    }

    /// The time by the clock of the database.
    private func now(in dialect: SchemaDialect) -> String {
        switch dialect {
        case .sqlite: "CAST(strftime('%s', 'now') AS INTEGER) * 1000000"
        case .postgreSQL: "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
        }
    }

    private func value(of part: Part, in dialect: SchemaDialect) -> String {
        switch (part, dialect) {
        case (.text(let column), .sqlite): "CAST(\(row).\(column) AS TEXT)"
        case (.text(let column), .postgreSQL): "\(row).\(column)::text"
        case (.user(let column), .sqlite):
            "coalesce(CAST((SELECT number FROM people WHERE id = \(row).\(column)) AS TEXT), '')"
        case (.user(let column), .postgreSQL):
            "coalesce((SELECT number FROM people WHERE id = \(row).\(column))::text, '')"
        case (.hexadecimal(let column), .sqlite): "lower(hex(\(row).\(column)))"
        case (.hexadecimal(let column), .postgreSQL): "encode(\(row).\(column), 'hex')"
        case (.expression(let text), _): text
        }
    }
}
