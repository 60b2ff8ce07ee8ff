/// The ways in which a user can sign in alone.
///
/// The password is one, unless the record of its second factor is lost, and each passkey is one. An identity at another
/// issuer is one while the server accepts sign-ins of that issuer, for a user without a role: a user with one must be
/// able to sign in here. A code, a recovery code and a security key come after the password, and a link in a mail is a
/// way back that the operator can turn off, so none of them counts.
public struct WaysIn: Sendable, Hashable {
    /// A way in that a user removes.
    public enum Removal: Sendable, Hashable, CaseIterable {
        case password
        case passkey
        case identity
    }

    /// Whether the user has a password that signs in, alone or with a second factor.
    public var hasPassword: Bool
    /// The number of passkeys.
    public var passkeys: Int
    /// The number of identities at other issuers that are ways in.
    public var identities: Int

    /// Creates the record of the ways in of a user.
    public init(hasPassword: Bool, passkeys: Int, identities: Int = 0) {
        self.hasPassword = hasPassword
        self.passkeys = passkeys
        self.identities = identities
    }

    /// Returns true if the user may remove a way in.
    ///
    /// The last one stays. The password stays until two passkeys or an identity are left, so that the loss of one
    /// device locks no user out. The passkey of that device can then be removed.
    public func allows(_ removal: Removal) -> Bool {
        switch removal {
        case .password: passkeys >= 2 || identities >= 1
        case .passkey: hasPassword || passkeys >= 2 || identities >= 1
        case .identity: hasPassword || passkeys >= 2 || identities >= 2
        }
    }
}
