/// A method by which a user has authenticated.
public enum AuthenticationMethod: String, Sendable, Hashable, CaseIterable {
    /// A username or email address and a password.
    case password
    /// A code of an authenticator app (RFC 6238).
    case code
    /// A recovery code, which replaces that of the app once.
    case recoveryCode = "recovery-code"
    /// A security key after the password, which has not verified the user.
    case securityKey = "security-key"
    /// A passkey that has verified the user (WebAuthn §4, user verification).
    case passkey
}

/// The methods of one sign-in.
public struct AuthenticationMethods: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The methods; never empty in a store.
    public let all: Set<AuthenticationMethod>

    /// Creates the record of a sign-in by these methods together.
    public init(_ all: Set<AuthenticationMethod>) { self.all = all }

    /// Creates the record of a sign-in by these methods together.
    public init(arrayLiteral methods: AuthenticationMethod...) { self.init(Set(methods)) }

    /// Parses the text of a store; nil if it names no method, or one that this version does not know.
    package init?(stored text: String) {
        let names = text.split(separator: " ")
        let methods = names.compactMap { AuthenticationMethod(rawValue: String($0)) }
        guard !methods.isEmpty, methods.count == names.count else { return nil }
        self.init(Set(methods))
    }

    /// The text for a store: the names in their order, with spaces between them.
    package var stored: String {
        AuthenticationMethod.allCases.filter(all.contains).map(\.rawValue).joined(separator: " ")
    }

    /// The strongest context in which this sign-in counts.
    public var context: AuthenticationContext {
        if all.contains(.passkey) { return .passkey }
        return all.contains(.password) && !all.isDisjoint(with: [.code, .recoveryCode, .securityKey])
            ? .twoFactor : .password
    }
}

/// The authentication context class of a sign-in (OpenID Connect Core §2, `acr`), from the weakest to the strongest.
public enum AuthenticationContext: String, Sendable, Hashable, CaseIterable, Comparable {
    /// A password.
    case password
    /// A password, and a code of an authenticator app, a security key or a recovery code.
    case twoFactor = "two-factor"
    /// A passkey, which no page of another site can ask for.
    case passkey

    /// Returns true if the left context is weaker than the right one.
    public static func < (left: Self, right: Self) -> Bool { left.strength < right.strength }

    private var strength: Int {
        switch self {
        case .password: 0
        case .twoFactor: 1
        case .passkey: 2
        }
    }
}
