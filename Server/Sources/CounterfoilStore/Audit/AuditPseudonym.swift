@_spi(Counterfoil) import CounterfoilProtocol
import Crypto

extension UserIdentifier {
    private static let pseudonymPrefix = "per_removed_"
    /// The number of bytes of a pseudonym: the prefix, and 256 bits in base64url.
    private static let pseudonymLength = pseudonymPrefix.utf8.count + 43

    /// Whether the identifier is the pseudonym of a deleted user in the audit log.
    ///
    /// A pseudonym is longer than the identifier of an account, so no account has it.
    public var isPseudonym: Bool {
        rawValue.hasPrefix(Self.pseudonymPrefix) && rawValue.utf8.count == Self.pseudonymLength
    }
}

extension AuditEvent {
    /// The beginning of the detail of each event that a command causes.
    package static let commandPrefix = "at the command line: "

    /// The beginning of the detail of each event that an administrator causes for the account of another user.
    package static let administratorPrefix = "by an administrator: "

    /// The beginning of the detail of each event of an administrator who has changed the account of another user.
    package static let otherAccountPrefix = "another account: "
    /// The beginning of the detail of the event of a changed role.
    package static let rolePrefix = "role changed "

    /// Whether an administrator has caused the event for the account of another user.
    package var isFromAdministrator: Bool { detail?.hasPrefix(Self.administratorPrefix) == true }

    /// Whether a command caused the event; false for a deleted user, whose events do not show it.
    package var isFromCommand: Bool { hasNoRequest && detail?.hasPrefix(Self.commandPrefix) == true }

    /// Whether the server itself caused the event, such as the rotation of a signing key.
    ///
    /// Such an event has a detail. An event without one can be that of a user whose deletion has removed the request.
    package var isFromServer: Bool { hasNoRequest && detail.map { !$0.hasPrefix(Self.commandPrefix) } == true }

    private var hasNoRequest: Bool { source == nil && requestID == nil && userID?.isPseudonym != true }
}

extension ServerKey {
    /// Returns the pseudonym of a user in the audit log.
    ///
    /// It is an HMAC of the identifier, so a user always has the same one. A test whether it belongs to an
    /// identifier needs the server key.
    package func auditPseudonym(of user: UserIdentifier) -> UserIdentifier {
        let code = HMAC<SHA256>.authenticationCode(for: Array(user.rawValue.utf8), using: auditPseudonyms)
        return UserIdentifier(pseudonym: code.copiedBytes)
    }
}

extension UserIdentifier {
    /// Creates a pseudonym from the 32 bytes of an HMAC.
    fileprivate init(pseudonym bytes: [UInt8]) {
        self.init(unchecked: Self.pseudonymPrefix + Base64URL.encode(bytes))
    }
}
