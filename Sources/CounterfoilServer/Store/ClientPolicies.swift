public import CounterfoilProtocol
public import CounterfoilTokens
public import Foundation

/// The policy that an administrator sets for a client.
///
/// A developer can read it and cannot change it.
public struct ClientPolicy: Sendable, Hashable {
    /// Whether the client belongs to the owner of this server, so that users are not asked for consent.
    public var isFirstParty: Bool
    /// Whether an administrator knows the publisher of the client; otherwise pages warn users.
    public var isVouchedFor: Bool
    /// Whether the claimed https redirect URIs are verified to belong to the client (RFC 8252 §7.2 and §8.6).
    public var isClaimedHTTPSVerified: Bool
    /// The required proof that the client itself began an authorization.
    public var pkce: PKCEPolicy
    /// Whether an authorization request without `state` is refused.
    public var requiresState: Bool
    /// The condition for a refresh token.
    public var refreshTokens: RefreshTokenPolicy
    /// The lifetime and the rotation of refresh tokens.
    public var refreshTokenLife: RefreshTokenLife
    /// The subject identifiers of the client: `public` or `pairwise` (OpenID Connect Core §8).
    public var subjectType: SubjectType
    /// The lifetime of access tokens in seconds, 60 to 86400; nil for that of the server.
    public var accessTokenLifetime: Int?
    /// The lifetime of ID tokens in seconds, 60 to 86400; nil for that of the server.
    public var idTokenLifetime: Int?
    /// The treatment of sign-ins in an embedded web view (RFC 8252 §8.12).
    public var webViews: WebViewPolicy
    /// The algorithm that signs ID tokens, `id_token_signed_response_alg`.
    public var idTokenAlgorithm: SigningAlgorithm
    /// The scopes that an administrator has approved for requests without a user (client credentials grant).
    public var machineScope: Scope

    /// Creates a policy; every default is the strictest value.
    public init(
        isFirstParty: Bool = false,
        isVouchedFor: Bool = false,
        isClaimedHTTPSVerified: Bool = false,
        pkce: PKCEPolicy = .s256,
        requiresState: Bool = true,
        refreshTokens: RefreshTokenPolicy = .offlineAccess,
        refreshTokenLife: RefreshTokenLife = RefreshTokenLife(),
        subjectType: SubjectType = .public,
        accessTokenLifetime: Int? = nil,
        idTokenLifetime: Int? = nil,
        webViews: WebViewPolicy = .block,
        idTokenAlgorithm: SigningAlgorithm = .es256,
        machineScope: Scope = Scope()
    ) {
        self.isFirstParty = isFirstParty
        self.isVouchedFor = isVouchedFor
        self.isClaimedHTTPSVerified = isClaimedHTTPSVerified
        self.pkce = pkce
        self.requiresState = requiresState
        self.refreshTokens = refreshTokens
        self.refreshTokenLife = refreshTokenLife
        self.subjectType = subjectType
        self.accessTokenLifetime = accessTokenLifetime
        self.idTokenLifetime = idTokenLifetime
        self.webViews = webViews
        self.idTokenAlgorithm = idTokenAlgorithm
        self.machineScope = machineScope
    }

    /// Returns the policy of a new client of a type.
    public static func standard(for type: ClientType) -> ClientPolicy {
        switch type {
        case .native: ClientPolicy(requiresState: true, webViews: .block)
        case .singlePage: ClientPolicy(requiresState: false, accessTokenLifetime: 600, webViews: .warn)
        case .web, .device, .service: ClientPolicy(requiresState: false, webViews: .warn)
        }
    }
}

/// The proof that a client began an authorization itself (RFC 7636).
///
/// The text form is `s256`, `s256-or-plain` or `exempt-until:2027-01-31`. Only the first is safe. The others
/// are for clients older than PKCE, and the server counts every use.
public enum PKCEPolicy: Sendable, Hashable {
    /// An S256 challenge in every request.
    case s256
    /// A challenge with the method S256 or `plain` (RFC 7636 §4.2).
    case s256OrPlain
    /// An S256 challenge, or none until the end of a day in UTC.
    case exemptUntil(CalendarDay)

    /// Returns whether a request without a challenge is accepted at a time.
    func isExempt(at now: Date) -> Bool {
        switch self {
        case .s256, .s256OrPlain: false
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
    /// The day of the month.
    public let day: Int

    /// Parses a day; nil unless it exists in the calendar.
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

    /// The day in UTC that contains a time.
    public init(of moment: Date) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day], from: moment)
        year = parts.year ?? 1970
        month = parts.month ?? 1
        day = parts.day ?? 1
    }

    /// The text form.
    public var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    /// Orders days by time.
    public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

extension PKCEPolicy: CustomStringConvertible {
    /// Parses the text form of a policy; nil if unknown.
    public init?(_ text: String) {
        let exemption = "exempt-until:"
        switch text {
        case "s256": self = .s256
        case "s256-or-plain": self = .s256OrPlain
        case _ where text.hasPrefix(exemption):
            guard let day = CalendarDay(String(text.dropFirst(exemption.count))) else { return nil }
            self = .exemptUntil(day)
        default: return nil
        }
    }

    /// The text form.
    public var description: String {
        switch self {
        case .s256: "s256"
        case .s256OrPlain: "s256-or-plain"
        case .exemptUntil(let day): "exempt-until:\(day)"
        }
    }
}

/// The proof with which a client began an authorization request.
public enum PKCEUse: String, Sendable, Hashable, CaseIterable {
    /// An S256 challenge.
    case s256 = "S256"
    /// A `plain` challenge, under an exception.
    case plain
    /// No challenge, under an exemption.
    case none
}

/// The condition under which a client gets a refresh token.
public enum RefreshTokenPolicy: String, Sendable, Hashable, CaseIterable {
    /// If the user allowed `offline_access` (OpenID Connect Core §11).
    case offlineAccess = "offline-access"
    /// With every grant.
    case always
    /// Never.
    case never
}

/// The lifetime and rotation of refresh tokens; a nil value follows from the type of the client.
public struct RefreshTokenLife: Sendable, Hashable {
    /// Whether each use replaces the token (RFC 9700 §4.14.2).
    public var rotates: Bool?
    /// The time in seconds, 0 to 600, in which the response to a refresh may be repeated while its token is
    /// unused.
    public var gracePeriod: Int?
    /// The time in seconds that a token outlives its last use, 600 to 31536000.
    public var idleLifetime: Int?
    /// The time in seconds that a token family lives, however often it is used, 600 to 63072000.
    public var lifetime: Int?

    /// Creates a setting; every value is nil by default.
    public init(rotates: Bool? = nil, gracePeriod: Int? = nil, idleLifetime: Int? = nil, lifetime: Int? = nil) {
        self.rotates = rotates
        self.gracePeriod = gracePeriod
        self.idleLifetime = idleLifetime
        self.lifetime = lifetime
    }
}

/// The type of the subject identifiers that a client gets.
///
/// Wire name `subject_type`, OpenID Connect Core §8.
public enum SubjectType: String, Sendable, Hashable, CaseIterable {
    /// The same identifier for every client.
    case `public`
    /// An identifier that clients of another host do not know.
    case pairwise
}

/// The treatment of a sign-in in an embedded web view (RFC 8252 §8.12).
public enum WebViewPolicy: String, Sendable, Hashable, CaseIterable {
    /// A page explains the problem and leads to the browser.
    case block
    /// The page shows a warning and continues.
    case warn
    /// The page shows nothing.
    case allow
}
