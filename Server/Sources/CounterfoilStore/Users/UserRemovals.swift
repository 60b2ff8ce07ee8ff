@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The conditions of the deletion of a user, and the values that take the place of the identifier.
public struct RemovalTerms: Sendable, Hashable {
    /// The fate of the clients that the user owns.
    public enum OwnedClients: Sendable, Hashable {
        /// The user is not deleted while the user owns a client.
        case refuse
        /// These clients are deleted, with everything that belongs to them.
        ///
        /// The user is not deleted while the user owns another client, for example one that was registered after the
        /// operator confirmed the deletion.
        case delete([ClientIdentifier])
        /// The clients get another owner.
        case transfer(to: UserIdentifier)
    }

    /// The identifier that replaces that of the user in the audit log (``UserIdentifier/isPseudonym``).
    public let pseudonym: UserIdentifier
    /// The encrypted identifier of the user, for logout notifications that are not delivered yet.
    public let sealedUserID: [UInt8]
    /// The fate of the clients that the user owns.
    public let ownedClients: OwnedClients
    /// The role that the user must have; nil for any.
    public let requiredRole: UserQuery.Role?

    /// Creates the terms for one user.
    ///
    /// - Parameters:
    ///   - user: The user to be deleted.
    ///   - serverKey: The key from which the pseudonym is computed, and with which the identifier is encrypted.
    ///   - ownedClients: What happens to the clients of the user.
    ///   - requiredRole: The role that the user must have; nil for any.
    /// - Throws: An error of the cryptographic library if the encryption fails.
    public init(
        of user: UserIdentifier, with serverKey: ServerKey, ownedClients: OwnedClients = .refuse,
        requiredRole: UserQuery.Role? = nil
    ) throws {
        pseudonym = serverKey.auditPseudonym(of: user)
        sealedUserID = try serverKey.seal(subject: user)
        self.ownedClients = ownedClients
        self.requiredRole = requiredRole
    }
}

/// The outcome of ``UserStore/beginRemoval(of:by:recording:at:)``.
public enum BeginRemovalOutcome: Sendable, Hashable {
    /// The user is deleted, and these clients were deleted or have another owner.
    ///
    /// ``UserStore/continueRemovals(atMost:)`` deletes the records that are left.
    case begun([ClientIdentifier])
    /// There is no such user, or the user has not the required role; nothing was written.
    case notFound
    /// No other owner can sign in; nothing was written.
    case lastOwner
    /// The user owns these clients, about which the terms say nothing; nothing was written.
    case ownsClients([ClientIdentifier])
    /// The new owner of the clients does not exist, or is the user; nothing was written.
    case newOwnerNotFound
}

/// A deleted user with records that are not deleted yet.
///
/// A store keeps it until ``UserStore/continueRemovals(atMost:)`` has found and changed every record.
public struct RemovedUser: Sendable, Hashable {
    /// The identifier of the user, with which the records are found.
    public let id: UserIdentifier
    /// The identifier that replaces ``id`` in the audit log.
    public let pseudonym: UserIdentifier
    /// The former username as the store had it, which can be an invalid one.
    public let username: String
    /// The former email address as the store had it, which can be an invalid one; nil if there was none.
    public let email: String?
    /// The former display name.
    public let displayName: String

    /// Creates a record.
    public init(
        id: UserIdentifier, pseudonym: UserIdentifier, username: String, email: String?,
        displayName: String
    ) {
        self.id = id
        self.pseudonym = pseudonym
        self.username = username
        self.email = email
        self.displayName = displayName
    }

    /// Returns an event of the user with the pseudonym, without what leads back to the user.
    ///
    /// That is the source, the grant and the request, because access tokens and the log of the server name these beside
    /// the user, and a detail that names the user.
    public func pseudonymized(_ event: AuditEvent) -> AuditEvent {
        AuditEvent(
            at: event.at, event.kind, event.outcome, userID: pseudonym, clientID: event.clientID,
            detail: detail(keptOf: event.detail), action: event.action)
    }

    /// Returns the detail of an event; nil if it contains a name of the user.
    public func detail(keptOf detail: String?) -> String? {
        detail.flatMap { names(in: $0) ? nil : $0 }
    }

    /// Returns true if a pushed authorization request names the user.
    ///
    /// The user is named by the identifier or the email address in any parameter, by the username in `login_hint`, or
    /// by an ID token with one of the names in `id_token_hint`.
    public func isNamed(in request: PushedRequest) -> Bool {
        guard let form = try? FormParameters(parsing: request.parameters, byteLimit: .max) else {
            return names(in: request.parameters)
        }
        return form.pairs.contains { pair in
            let value = pair.value.lowercased()
            if value.contains(id.rawValue.lowercased()) { return true }
            if let email, !email.isEmpty, value.contains(email.lowercased()) { return true }
            switch pair.name {
            case "login_hint":
                return Username(pair.value)?.rawValue == username
            case "id_token_hint":
                let parts = pair.value.split(separator: ".", omittingEmptySubsequences: false)
                guard parts.count == 3, let claims = Base64URL.decode(String(parts[1])) else { return false }
                return names(in: String(decoding: claims, as: UTF8.self))
            default: return false
            }
        }
    }

    /// Returns true if a text contains a name of the user as whole words, in any case.
    private func names(in text: String) -> Bool {
        let text = text.lowercased()
        return [id.rawValue, username, email, displayName].contains { name in
            guard let name, !name.isEmpty else { return false }
            return text.ranges(of: name.lowercased()).contains { range in
                let before = text[..<range.lowerBound].last
                let after = text[range.upperBound...].first
                return [before, after].allSatisfy { $0.map { !$0.isLetter && !$0.isNumber } ?? true }
            }
        }
    }
}

extension AuditEvent {
    /// The event without its user, and without what leads back to the user: source, grant, request and detail.
    ///
    /// A store appends it in place of an event about a user who does not exist any more. A request that was in progress
    /// during the deletion can cause such an event.
    public var withoutUser: AuditEvent {
        AuditEvent(at: at, kind, outcome, clientID: clientID, action: action)
    }
}

/// A record of a user that this version cannot read.
public struct UnreadableRecord: Sendable, Hashable {
    /// The identifier of the record, such as that of a grant, or of the client of a consent; nil if it is not stored
    /// as text.
    public let id: String?
    /// The value because of which the record cannot be read.
    public let value: UnsupportedValue

    /// Creates a description of a record.
    public init(id: String?, value: UnsupportedValue) {
        self.id = id
        self.value = value
    }
}

/// A grant with its token family, read in one transaction.
public struct GrantWithTokens: Sendable, Hashable {
    /// The grant, which may be revoked.
    public let grant: Grant
    /// The token family of the grant; nil if there is none.
    public let family: RefreshFamily?
    /// The latest expiry of an access token of the grant whose issue is recorded; nil if none is.
    public let accessUntil: Date?

    /// Creates a record that a store has read in one transaction.
    public init(grant: Grant, family: RefreshFamily?, accessUntil: Date? = nil) {
        self.grant = grant
        self.family = family
        self.accessUntil = accessUntil
    }
}
