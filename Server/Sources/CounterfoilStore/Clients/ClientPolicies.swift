public import CounterfoilProtocol
public import CounterfoilTokens
public import Foundation

/// The policy of a client, which an administrator sets.
///
/// The developer of the client can read the policy. Of its settings, the developer can change only
/// ``idTokenAlgorithm``, ``putsUserClaimsInIDToken`` and, between ``PKCEPolicy/s256`` and
/// ``PKCEPolicy/s256OrNonce``, ``pkce``.
public struct ClientPolicy: Sendable, Hashable {
    /// Whether the client belongs to the owner of this server, so that users are not asked for consent.
    public var isFirstParty: Bool
    /// Whether an administrator vouches for the publisher of the client; if not, pages warn users.
    public var isVouchedFor: Bool
    /// Whether an administrator has verified that the https redirect URIs of a native or single-page client belong to
    /// it (RFC 8252 §7.2 and §8.6).
    public var isClaimedHTTPSVerified: Bool
    /// The PKCE challenge that authorization requests must have (RFC 7636).
    public var pkce: PKCEPolicy
    /// Whether an authorization request without `state` is refused.
    public var requiresState: Bool
    /// Whether the client must push its authorization requests, `require_pushed_authorization_requests` (RFC 9126 §6).
    public var requiresPushedRequests: Bool
    /// Whether the client gets only access tokens that are bound to a key, `dpop_bound_access_tokens` (RFC 9449 §5.2).
    public var requiresBoundTokens: Bool
    /// The condition under which the client gets a refresh token; by default, that the user allowed `offline_access`.
    public var refreshTokens: RefreshTokenPolicy
    /// The lifetime and rotation of refresh tokens, where they differ from the default for the type of the client.
    public var refreshTokenLife: RefreshTokenLife
    /// The kind of `sub` that the client gets: the same as other clients, or a pairwise one (OpenID Connect Core §8).
    public var subjectType: SubjectType
    /// The lifetime of access tokens in seconds, 60 to 86400; nil for the lifetime in the server settings.
    public var accessTokenLifetime: Int?
    /// The lifetime of ID tokens in seconds, 60 to 86400; nil for the lifetime in the server settings.
    public var idTokenLifetime: Int?
    /// The treatment of sign-ins in an embedded web view (RFC 8252 §8.12); by default, they are refused.
    public var webViews: WebViewPolicy
    /// The weakest sign-in with which the client gets tokens of a user; by default, a password suffices.
    public var minimumAuthentication: AuthenticationContext
    /// The algorithm that signs ID tokens, `id_token_signed_response_alg`.
    public var idTokenAlgorithm: SigningAlgorithm
    /// Whether ID tokens contain the claims of the granted scopes `profile` and `email` (OpenID Connect Core §5.4).
    ///
    /// If not, the client gets these claims only from UserInfo, or by requesting them individually (§5.5).
    public var putsUserClaimsInIDToken: Bool
    /// The scopes that an administrator has approved for requests without a user (client credentials grant).
    public var machineScope: Scope

    /// Creates a policy; the default values grant no privilege, exception or machine scope.
    public init(
        isFirstParty: Bool = false,
        isVouchedFor: Bool = false,
        isClaimedHTTPSVerified: Bool = false,
        pkce: PKCEPolicy = .s256,
        requiresState: Bool = true,
        requiresPushedRequests: Bool = false,
        requiresBoundTokens: Bool = false,
        refreshTokens: RefreshTokenPolicy = .offlineAccess,
        refreshTokenLife: RefreshTokenLife = RefreshTokenLife(),
        subjectType: SubjectType = .public,
        accessTokenLifetime: Int? = nil,
        idTokenLifetime: Int? = nil,
        webViews: WebViewPolicy = .block,
        minimumAuthentication: AuthenticationContext = .password,
        idTokenAlgorithm: SigningAlgorithm = .es256,
        putsUserClaimsInIDToken: Bool = false,
        machineScope: Scope = Scope()
    ) {
        self.isFirstParty = isFirstParty
        self.isVouchedFor = isVouchedFor
        self.isClaimedHTTPSVerified = isClaimedHTTPSVerified
        self.pkce = pkce
        self.requiresState = requiresState
        self.requiresPushedRequests = requiresPushedRequests
        self.requiresBoundTokens = requiresBoundTokens
        self.refreshTokens = refreshTokens
        self.refreshTokenLife = refreshTokenLife
        self.subjectType = subjectType
        self.accessTokenLifetime = accessTokenLifetime
        self.idTokenLifetime = idTokenLifetime
        self.webViews = webViews
        self.minimumAuthentication = minimumAuthentication
        self.idTokenAlgorithm = idTokenAlgorithm
        self.putsUserClaimsInIDToken = putsUserClaimsInIDToken
        self.machineScope = machineScope
    }

    /// Returns the default policy of a new client of a type.
    public static func standard(for type: ClientType) -> ClientPolicy {
        switch type {
        // RFC 9700 §4.7.1: PKCE protects the request as well as `state`, which many clients therefore omit.
        case .native: ClientPolicy(requiresState: false, webViews: .block, putsUserClaimsInIDToken: true)
        case .singlePage: ClientPolicy(requiresState: false, accessTokenLifetime: 600, webViews: .warn)
        case .web:
            // Web frameworks verify ID tokens with RS256 unless configured otherwise (OpenID Connect Core §3.1.3.7),
            // and many send no code challenge.
            ClientPolicy(
                pkce: .s256OrNonce, requiresState: false, webViews: .warn, idTokenAlgorithm: .rs256,
                putsUserClaimsInIDToken: true)
        case .device: ClientPolicy(requiresState: false, webViews: .warn, putsUserClaimsInIDToken: true)
        case .service: ClientPolicy(requiresState: false, webViews: .warn)
        }
    }
}

/// The PKCE challenge that the server requires of a client (RFC 7636).
///
/// The text form is `s256`, `s256-or-nonce`, `s256-or-plain`, `optional` or `exempt-until:2027-01-31`. The last three
/// are exceptions for clients older than PKCE, which only an administrator can make. The server counts every
/// authorization that needs an exception (``ClientStore/pkceExceptionUse(of:)``).
public enum PKCEPolicy: Sendable, Hashable {
    /// Every request needs an S256 challenge.
    case s256
    /// Every request needs an S256 challenge, or the scope `openid` and a `nonce` (OpenID Connect Core §3.1.2.1).
    ///
    /// The policy is for confidential clients only. Because of the client authentication, no other client can redeem a
    /// stolen code. The `nonce` in the ID token shows the client that a code was injected (RFC 9700 §2.1.1).
    case s256OrNonce
    /// Every request needs a challenge, with the method S256 or `plain` (RFC 7636 §4.2).
    case s256OrPlain
    /// A request can omit the challenge. A challenge that is present must have the method S256.
    ///
    /// The policy is for confidential clients only: no other client can redeem a stolen code. The client does not
    /// notice a code that was injected into its session (RFC 9700 §4.5).
    case optional
    /// A request can omit the challenge until the end of this day in UTC; after that day, every request needs an S256
    /// challenge.
    ///
    /// A challenge that is present must have the method S256.
    case exemptUntil(CalendarDay)

    /// Whether only an administrator can set the policy, because it leaves codes unprotected.
    public var isException: Bool {
        switch self {
        case .s256, .s256OrNonce: false
        case .s256OrPlain, .optional, .exemptUntil: true
        }
    }

    /// Returns the policies that protect the codes of a client type, the default policy first.
    package static func safe(for type: ClientType) -> [PKCEPolicy] {
        type.usesAuthorizationCode && type.isConfidential ? [.s256OrNonce, .s256] : [.s256]
    }

    /// Returns whether the policy exempts requests of a client of a type from PKCE at the time `now`.
    package func isExempt(_ type: ClientType, at now: Date) -> Bool {
        switch self {
        case .s256, .s256OrNonce, .s256OrPlain: false
        // A stored policy alone does not exempt a public client, whose codes nothing else protects.
        case .optional: type.isConfidential
        case .exemptUntil(let day): CalendarDay(of: now) <= day
        }
    }
}

/// A calendar day in UTC, written `2027-01-31`.
public struct CalendarDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The year, 1970 to 9999.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, 1 to 31.
    public let day: Int

    /// Parses a day as `YYYY-MM-DD`; nil if the format is another one or the day does not exist.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard text.utf8.count == 10, parts.map(\.utf8.count) == [4, 2, 2],
            text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]), (1970...9999).contains(year)
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let components = DateComponents(calendar: calendar, timeZone: .gmt, year: year, month: month, day: day)
        guard components.isValidDate(in: calendar) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates the day in UTC that contains a time.
    public init(of moment: Date) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day], from: moment)
        year = parts.year ?? 1970
        month = parts.month ?? 1
        day = parts.day ?? 1
    }

    /// The day as `YYYY-MM-DD`.
    public var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    /// Returns whether a day is earlier than another, by year, month and day of the month in this order.
    public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

extension PKCEPolicy: CustomStringConvertible {
    /// Parses the text form of a policy; nil if it is not valid.
    public init?(_ text: String) {
        let exemption = "exempt-until:"
        switch text {
        case "s256": self = .s256
        case "s256-or-nonce": self = .s256OrNonce
        case "s256-or-plain": self = .s256OrPlain
        case "optional": self = .optional
        case _ where text.hasPrefix(exemption):
            guard let day = CalendarDay(String(text.dropFirst(exemption.count))) else { return nil }
            self = .exemptUntil(day)
        default: return nil
        }
    }

    /// The text form, such as `s256` or `exempt-until:2027-01-31`.
    public var description: String {
        switch self {
        case .s256: "s256"
        case .s256OrNonce: "s256-or-nonce"
        case .s256OrPlain: "s256-or-plain"
        case .optional: "optional"
        case .exemptUntil(let day): "exempt-until:\(day)"
        }
    }
}

/// The protection of an authorization code by PKCE or, instead of it, by OpenID's `nonce`.
public enum PKCEUse: String, Sendable, Hashable, CaseIterable {
    /// An S256 challenge, which every policy accepts.
    case s256 = "S256"
    /// No challenge but a `nonce` and the scope `openid`, which only ``PKCEPolicy/s256OrNonce`` accepts.
    case nonce
    /// A `plain` challenge, which only ``PKCEPolicy/s256OrPlain`` accepts.
    case plain
    /// No challenge, which only ``PKCEPolicy/optional`` and ``PKCEPolicy/exemptUntil(_:)`` accept.
    case none
    /// No rule, because no authorization code travels through a browser: the user approved a `device_code` (RFC 8628).
    case notNeeded = "not-needed"

    /// Whether the authorization needs an exception of the policy, which the server counts.
    public var isException: Bool {
        switch self {
        case .s256, .nonce, .notNeeded: false
        case .plain, .none: true
        }
    }
}

/// The condition under which a client gets a refresh token.
public enum RefreshTokenPolicy: String, Sendable, Hashable, CaseIterable {
    /// The client gets a refresh token if the user allowed `offline_access` (OpenID Connect Core §11).
    case offlineAccess = "offline-access"
    /// The client gets a refresh token with every grant.
    case always
    /// The client never gets a refresh token.
    case never
}

/// The lifetime and rotation of refresh tokens; a nil value selects the default for the type of the client.
public struct RefreshTokenLife: Sendable, Hashable {
    /// Whether each use replaces the token (RFC 9700 §4.14.2).
    ///
    /// Tokens of public clients are always rotated, whatever the value (RFC 9700 §2.2.2).
    public var rotates: Bool?
    /// The grace period after a rotation in seconds, 0 to 600.
    ///
    /// In this time, a client that has lost the response can retry with the previous token. The server then sends the
    /// new refresh token of the lost response again, unless that token was used already.
    public var gracePeriod: Int?
    /// The time without use after which a token expires, in seconds, 600 to 31536000.
    public var idleLifetime: Int?
    /// The lifetime of a token family in seconds, 600 to 63072000; no use extends it.
    public var lifetime: Int?

    /// Creates settings; every value is nil by default.
    public init(rotates: Bool? = nil, gracePeriod: Int? = nil, idleLifetime: Int? = nil, lifetime: Int? = nil) {
        self.rotates = rotates
        self.gracePeriod = gracePeriod
        self.idleLifetime = idleLifetime
        self.lifetime = lifetime
    }
}

/// The type of the subject identifiers that a client gets, `subject_type` (OpenID Connect Core §8).
public enum SubjectType: String, Sendable, Hashable, CaseIterable {
    /// Every client gets the same identifier of a user.
    case `public`
    /// Clients of different sectors get different identifiers of a user, and clients of the same sector get the same
    /// one.
    ///
    /// The sector is the host of the redirect URIs of a client. A client with redirect URIs on several hosts, or on
    /// none, is a sector of its own.
    case pairwise
}

/// The treatment of a sign-in in an embedded web view (RFC 8252 §8.12).
public enum WebViewPolicy: String, Sendable, Hashable, CaseIterable {
    /// The server refuses the request and shows a page that explains the reason and offers to open the browser.
    case block
    /// The server shows a warning on the pages of the sign-in, and the user can continue.
    case warn
    /// The server treats the sign-in like one in a browser, without a warning.
    case allow
}
