import CounterfoilProtocol
import Crypto

extension PersonIdentifier {
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
    /// Whether a command caused the event, and no request; false for a deleted user, whose events do not show it.
    package var isFromCommand: Bool { source == nil && requestID == nil && personID?.isPseudonym != true }
}

extension ServerKey {
    /// Returns the pseudonym of a user in the audit log.
    ///
    /// It is an HMAC of the identifier, so a user always has the same one. A test whether it belongs to an
    /// identifier needs the server key.
    func auditPseudonym(of person: PersonIdentifier) -> PersonIdentifier {
        let code = HMAC<SHA256>.authenticationCode(for: Array(person.rawValue.utf8), using: auditPseudonyms)
        return PersonIdentifier(pseudonym: code.copiedBytes)
    }
}

extension PersonIdentifier {
    /// Creates a pseudonym from the 32 bytes of an HMAC.
    fileprivate init(pseudonym bytes: [UInt8]) {
        self.init(unchecked: Self.pseudonymPrefix + Base64URL.encode(bytes))
    }
}
