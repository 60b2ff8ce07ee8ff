package import CounterfoilStore

/// The type of an event for programs, such as `user.created`: a name that never changes.
///
/// It is the action of an audit event, or else follows from its kind and outcome.
package struct EventType: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The type of an event of a kind that this version does not know.
    private static let other = EventType(rawValue: "other")
    /// The type of a refusal without a type of its own.
    private static let refused = EventType(rawValue: "request.refused")

    /// The types of the kinds whose event has no action.
    private static let done: [(kind: AuditEvent.Kind, name: String)] = [
        (.signIn, "session.started"), (.signOut, "session.ended"), (.passwordChange, "user.password_changed"),
        (.passkey, "user.passkey_changed"), (.secondFactor, "user.second_factor_changed"),
        (.consent, "consent.given"), (.pkceException, "client.pkce_exception"),
        (.challengeReuse, "client.challenge_reused"), (.codeRedemption, "code.refused"),
        (.browserRequest, "request.refused"), (.clientRequest, "request.refused"), (.userCode, "request.refused"),
        (.refreshRepeat, "refresh_token.repeated"), (.refreshReuse, "refresh_token.reused"),
        (.revocation, "token.revoked"), (.clientAuthentication, "client.authentication_failed"),
        (.throttled, "request.throttled"), (.client, "client.changed"),
        (.machineAccess, "client.machine_access_changed"), (.clientSecret, "client.secret_changed"),
        (.account, "user.changed"), (.signingKey, "signing_key.changed"), (.setting, "setting.changed"),
        (.auditRemoval, "audit.deleted"), (.auditExport, "audit.exported"),
    ]

    /// The types of the refusals that have one of their own.
    private static let refusals: [(kind: AuditEvent.Kind, name: String)] = [
        (.signIn, "session.refused"), (.consent, "consent.refused"), (.codeRedemption, "code.refused"),
        (.refreshReuse, "refresh_token.reused"), (.clientAuthentication, "client.authentication_failed"),
        (.throttled, "request.throttled"), (.challengeReuse, "client.challenge_reused"),
    ]

    private static let typesOfDone = types(of: done)
    private static let typesOfRefusals = types(of: refusals)

    private static func types(of names: [(kind: AuditEvent.Kind, name: String)]) -> [AuditEvent.Kind: EventType] {
        Dictionary(names.map { ($0.kind, EventType(rawValue: $0.name)) }) { first, _ in first }
    }

    /// Every type that this version sends, sorted by name.
    package static let allCases: [EventType] = {
        let names =
            AuditEvent.Action.allCases.map(\.rawValue) + (done + refusals).map(\.name) + [other.rawValue]
        return Set(names).sorted().map { EventType(rawValue: $0) }
    }()

    /// The types of the refusals that strangers can cause without limit.
    ///
    /// Each event waits for the previous one. So these would delay the others, and a webhook gets them only if an
    /// administrator chooses them.
    package static let ofStrangers: Set<EventType> = Set(
        [refused.rawValue, "request.throttled", "session.refused", "client.authentication_failed", "code.refused"].map {
            EventType(rawValue: $0)
        })

    /// The types that a webhook gets.
    package enum Choice: Sendable, Hashable {
        case all
        /// All but ``EventType/ofStrangers``.
        case usual
        case named([String])

        /// - Parameter types: The types of a webhook, as it has them.
        package init(of types: [String]) {
            self = if types.isEmpty { .usual } else if types.count == allCases.count { .all } else { .named(types) }
        }
    }

    /// Creates the type with a name; nil if this version sends no such type.
    package init?(known name: String) {
        guard let type = Self.allCases.first(where: { $0.rawValue == name }) else { return nil }
        self = type
    }

    /// The type of an event in the log.
    package init(of record: AuditRecord) {
        let kind = AuditEvent.Kind(rawValue: record.kind)
        guard record.outcome == AuditEvent.Outcome.done.rawValue else {
            self = Self.typesOfRefusals[kind] ?? Self.refused
            return
        }
        if let action = record.action {
            self.init(rawValue: action)
        } else {
            self = Self.typesOfDone[kind] ?? Self.other
        }
    }
}
