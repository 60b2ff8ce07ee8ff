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
    /// A sign-in at another issuer (``ExternalAuthentication``).
    case external
}

/// The sign-in of a user at another issuer, as that issuer states it.
public struct ExternalAuthentication: Sendable, Hashable {
    /// The values of `amr` that a sign-in can have: those of RFC 8176 §2.
    public static let knownReferences: Set<String> = [
        "face", "fpt", "geo", "hwk", "iris", "kba", "mca", "mfa", "otp", "pin", "pop", "pwd", "rba", "retina", "sc",
        "sms", "swk", "tel", "user", "vbm", "wia",
    ]

    /// The strongest context in which the sign-in counts.
    public let context: AuthenticationContext
    /// The methods of the sign-in, `amr`; each is one of ``knownReferences``.
    public let references: [String]

    /// Creates the record of a sign-in; unknown and repeated references are left out.
    public init(context: AuthenticationContext, references: [String] = []) {
        var seen: Set<String> = []
        self.context = context
        self.references = references.filter { Self.knownReferences.contains($0) && seen.insert($0).inserted }
    }

    private static let prefix = "external:"

    fileprivate init?(stored text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let context = AuthenticationContext(rawValue: String(parts[0])) else { return nil }
        self.init(context: context, references: parts[1].split(separator: ",").map(String.init))
    }

    fileprivate var stored: String {
        Self.prefix + context.rawValue + ":" + references.joined(separator: ",")
    }
}

/// The methods of one sign-in.
public struct AuthenticationMethods: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The methods; never empty in a store.
    public let all: Set<AuthenticationMethod>
    /// The sign-in at another issuer; nil for a sign-in at this server.
    public let external: ExternalAuthentication?

    /// Creates the record of a sign-in by these methods together.
    public init(_ all: Set<AuthenticationMethod>) {
        self.all = all
        external = nil
    }

    /// Creates the record of a sign-in at another issuer.
    public init(_ external: ExternalAuthentication) {
        all = [.external]
        self.external = external
    }

    /// Creates the record of a sign-in by these methods together.
    public init(arrayLiteral methods: AuthenticationMethod...) { self.init(Set(methods)) }

    /// Parses the text of a store; nil if it names no method, or one that this version does not know.
    package init?(stored text: String) {
        if let external = ExternalAuthentication(stored: text) {
            self.init(external)
            return
        }
        let names = text.split(separator: " ")
        let methods = names.compactMap { AuthenticationMethod(rawValue: String($0)) }
        guard !methods.isEmpty, methods.count == names.count, !methods.contains(.external) else { return nil }
        self.init(Set(methods))
    }

    /// The text for a store: the names in their order, with spaces between them, or `external:` with the context and
    /// the references of a sign-in at another issuer.
    package var stored: String {
        if let external { return external.stored }
        return AuthenticationMethod.allCases.filter(all.contains).map(\.rawValue).joined(separator: " ")
    }

    /// The strongest context in which this sign-in counts.
    public var context: AuthenticationContext {
        if let external { return external.context }
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
