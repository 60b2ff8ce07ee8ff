@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// An ending that is ended again.
struct Repetition: Sendable {
    let ending: Ending
    /// The latest time at which the user can have been created, in microseconds since 1970.
    let latestUser: Int64

    init(_ ending: Ending, isOwn: Bool) {
        self.ending = ending
        // Some times of endings are in whole seconds. They are by another clock than that of a user's creation.
        let (latest, overflows) = ending.at.addingReportingOverflow(2_000_000)
        latestUser = isOwn || overflows ? .max : latest
    }

    /// The number of the user; nil for another kind of subject.
    var user: Int64? { Int64(ending.subject) }
}

extension SQLConnection {
    /// The condition for the user of an ending, by the number and ``Repetition/latestUser``.
    ///
    /// A database that lost the creation of a user gives the number to the next one, whom the ending does not concern.
    static let isUser = "number = ?1 AND created_at <= ?2"

    /// The reason of a suspension that a restore repeats; the journal does not have the one of the administrator.
    private static let reasonOfRestore =
        "The app was suspended after the backup from which this server was restored. Ask an administrator for the reason."

    /// Ends what was issued for one use and not used yet.
    func endRequests() throws {
        try send("DELETE FROM codes WHERE used_at IS NULL")
        try send("DELETE FROM pushed_requests")
        try send("DELETE FROM device_authorizations")
        try send("DELETE FROM user_links")
        try send("DELETE FROM sign_ups")
        try send("DELETE FROM kept_answers")
    }

    /// Ends again what one transaction can end with others.
    func endAgain(_ repetition: Repetition, at time: Int64) throws {
        let ending = repetition.ending
        let subject = ending.subject
        switch Ending.Kind(name: ending.kind) {
        case .grant:
            try send("UPDATE grants SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL", subject, time)
            try followConsent(ofGrant: subject)
        case .grantScope: try narrow(ending, at: time)
        case .consent:
            try send(
                """
                UPDATE consents SET remembered = '', remembered_at = ''
                WHERE person_id = (SELECT id FROM people WHERE \(Self.isUser)) AND client_id = ?3
                """, repetition.user, repetition.latestUser, ending.detail ?? "")
        case .session: try send("DELETE FROM sessions WHERE digest = ?", try digest(subject))
        case .passkey: try send("DELETE FROM passkeys WHERE digest = ?", try digest(subject))
        case .secondFactor:
            try send(
                """
                DELETE FROM second_factors
                WHERE person_id = (SELECT id FROM people WHERE \(Self.isUser)) AND digest <> ?3
                """, repetition.user, repetition.latestUser, try digest(ending.detail ?? ""))
            // The user cannot sign in without it, also if the copy is from before the setup.
            try send(
                "UPDATE people SET has_second_factor = 1 WHERE \(Self.isUser)", repetition.user, repetition.latestUser)
        case .recoveryCode: try send("DELETE FROM recovery_codes WHERE digest = ?", try digest(subject))
        case .password:
            try send(
                "UPDATE people SET password_hash = NULL WHERE \(Self.isUser)", repetition.user, repetition.latestUser)
        case .userDisabled:
            try send(
                "UPDATE people SET disabled_at = coalesce(disabled_at, ?3) WHERE \(Self.isUser)", repetition.user,
                repetition.latestUser, time)
        case .userDemoted:
            try send(
                "UPDATE people SET role = NULL WHERE \(Self.isUser)", repetition.user, repetition.latestUser)
        case .userGroup: try endClaim(repetition, in: "user_groups")
        // The value that replaced the former one is not in the copy.
        case .userAttribute: try endClaim(repetition, in: "user_attributes")
        case .userIdentity: try send("DELETE FROM user_identities WHERE id = ?", subject)
        case .clientSuspended:
            try send(
                """
                UPDATE clients SET suspended_at = ?2, suspension_reason = ?3, revision = revision + 1
                WHERE id = ?1 AND suspended_at IS NULL
                """, subject, time, Self.reasonOfRestore)
        case .clientKeys:
            // An empty key set: without one, a client could do without authentication.
            try send(
                """
                UPDATE clients SET keys = ?2, keys_uri = NULL, revision = revision + 1
                WHERE id = ?1 AND (keys IS NOT NULL OR keys_uri IS NOT NULL)
                """, subject, Data("{\"keys\":[]}".utf8))
        case .clientRegistrationToken:
            try send(
                """
                UPDATE clients SET registration_access_token = ?2
                WHERE id = ?1 AND registration_access_token IS NOT NULL
                """, subject, Data(RandomBytes().bytes(32)))
        case .clientMachineScope:
            let stored = try first("SELECT machine_scope FROM clients WHERE id = ?", subject) { try $0.text() }
            guard let stored else { return }
            try send(
                "UPDATE clients SET machine_scope = ?2, revision = revision + 1 WHERE id = ?1", subject,
                Self.common(stored, ending.detail ?? ""))
        case .clientSecret: try send("DELETE FROM client_secrets WHERE digest = ?", try digest(subject))
        case .clientDeveloper:
            try send(
                """
                DELETE FROM client_developers
                WHERE person_id = (SELECT id FROM people WHERE \(Self.isUser)) AND client_id = ?3
                """, repetition.user, repetition.latestUser, ending.detail ?? "")
        case .invitation: try send("DELETE FROM invitations WHERE digest = ?", try digest(subject))
        case .registrationToken: try send("DELETE FROM initial_access_tokens WHERE digest = ?", try digest(subject))
        case .api: try send("DELETE FROM resources WHERE client_id = ?", subject)
        case .apiSecret:
            try send("UPDATE resources SET secret = ?2 WHERE client_id = ?1", subject, Data(RandomBytes().bytes(32)))
        case .scopeReserved: try send("UPDATE scopes SET is_reserved = 1 WHERE name = ?", subject)
        case .signingKey: try send("DELETE FROM signing_keys WHERE id = ?", subject)
        case .webhook: try send("UPDATE webhooks SET state = 'paused', revision = revision + 1 WHERE id = ?", subject)
        case .userDeleted, .client, .clientChanged, .scope, .apiChanged, .policyChanged, nil: break
        }
    }

    private func endClaim(_ repetition: Repetition, in table: String) throws {
        try send(
            """
            DELETE FROM \(table) WHERE person_id = (SELECT id FROM people WHERE \(Self.isUser)) AND name = ?3
            """, repetition.user, repetition.latestUser, repetition.ending.detail ?? "")
    }

    /// Takes from a grant what it lost; it never gets more than the copy has.
    private func narrow(_ ending: Ending, at time: Int64) throws {
        let stored = try first(
            "SELECT scope, claim_scope FROM grants WHERE id = ? AND revoked_at IS NULL", ending.subject
        ) { columns in (scope: try columns.text(), claims: try columns.text()) }
        guard let stored else { return }
        let left = (ending.detail ?? "").split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        let scope = Self.common(stored.scope, left.first ?? "")
        let claims = Self.common(stored.claims, left.count > 1 ? left[1] : "")
        try send("UPDATE grants SET scope = ?2, claim_scope = ?3 WHERE id = ?1", ending.subject, scope, claims)
        if scope.isEmpty, claims.isEmpty {
            try send("UPDATE grants SET revoked_at = ?2 WHERE id = ?1", ending.subject, time)
        }
        try followConsent(ofGrant: ending.subject)
    }

    /// Narrows the consent of a grant to what the active grants of the same user and client allow.
    private func followConsent(ofGrant grant: String) throws {
        let pair = try first(
            """
            SELECT people.id, grants.client_id FROM grants JOIN people ON people.number = grants.person_number
            WHERE grants.id = ?
            """, grant
        ) { columns in (user: try columns.text(), client: try columns.text()) }
        if let pair { try followConsent(of: pair.user, to: pair.client) }
    }

    /// Returns the scopes of the first text that the second one has, too.
    private static func common(_ stored: String, _ left: String) -> String {
        let left = Set(left.split(separator: " "))
        return stored.split(separator: " ").filter(left.contains).joined(separator: " ")
    }

    private func digest(_ text: String) throws -> Data {
        let digits = Array(text.utf8)
        var bytes = Data()
        for pair in stride(from: 0, to: digits.count - 1, by: 2) {
            guard let byte = UInt8(String(decoding: digits[pair...(pair + 1)], as: UTF8.self), radix: 16) else { break }
            bytes.append(byte)
        }
        guard bytes.count == 32, digits.count == 64 else {
            throw StoreFault.damaged("a digest in the endings journal is not 32 bytes")
        }
        return bytes
    }
}
