public import CounterfoilProtocol
public import CounterfoilTokens
public import Foundation

/// What the administrator decides about an application; a developer sees it and cannot change it.
public struct ClientPolicy: Sendable, Hashable {
    /// Whether it belongs to the owner of this server, so that the person is not asked for consent.
    public var isFirstParty: Bool
    /// Whether somebody who runs this server knows who publishes it; until then pages warn of it.
    public var isVouchedFor: Bool
    /// Whether its claimed https redirect URIs are known to be its own (RFC 8252 §7.2 and §8.6).
    public var isClaimedHTTPSVerified: Bool
    /// How it proves that it began an authorization.
    public var pkce: PKCEPolicy
    /// Whether a request without `state` is refused.
    public var requiresState: Bool
    /// When it gets a refresh token.
    public var refreshTokens: RefreshTokenPolicy
    /// How long its refresh tokens live and when they are replaced.
    public var refreshTokenLife: RefreshTokenLife
    /// Whether each of its families of applications sees a person under a name of its own (OpenID Connect Core §8).
    public var subjectType: SubjectType
    /// How long its access tokens live, in seconds, 60 to 86400; nil for what the server has set.
    public var accessTokenLifetime: Int?
    /// How long its ID tokens live, in seconds, 60 to 86400; nil for what the server has set.
    public var idTokenLifetime: Int?
    /// Whether people may sign in for it inside a web-view (RFC 8252 §8.12).
    public var webViews: WebViewPolicy
    /// `id_token_signed_response_alg`.
    public var idTokenAlgorithm: SigningAlgorithm
    /// The scopes that an administrator has approved for requests of a service without a user.
    public var machineScope: Scope

    /// Makes a policy; what is not given is as strict as it can be.
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

    /// What an application of a type has when nobody has decided anything.
    public static func standard(for type: ClientType) -> ClientPolicy {
        switch type {
        case .native: ClientPolicy(requiresState: true, webViews: .block)
        case .singlePage: ClientPolicy(requiresState: false, accessTokenLifetime: 600, webViews: .warn)
        case .web, .device, .service: ClientPolicy(requiresState: false, webViews: .warn)
        }
    }
}

/// How an application proves that it began an authorization (RFC 7636).
///
/// Written `s256`, `s256-or-plain`, or `exempt-until:2027-01-31`. Only the first is safe; the others are for applications
/// that are older than PKCE, and every use is counted.
public enum PKCEPolicy: Sendable, Hashable {
    /// A challenge of the method S256, always.
    case s256
    /// A challenge of the method S256 or `plain` (RFC 7636 §4.2).
    case s256OrPlain
    /// A challenge of the method S256, or none at all until the end of a day in UTC.
    case exemptUntil(CalendarDay)

    /// Whether a challenge may be missing at a moment.
    func isExempt(at now: Date) -> Bool {
        switch self {
        case .s256, .s256OrPlain: false
        case .exemptUntil(let day): CalendarDay(of: now) <= day
        }
    }
}

/// A day of the calendar in UTC, written `2027-01-31`.
public struct CalendarDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The year, 1970 to 9999.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month.
    public let day: Int

    /// A day as written, or nil when it is none of the calendar.
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

    /// The day in UTC that a moment lies on.
    public init(of moment: Date) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day], from: moment)
        year = parts.year ?? 1970
        month = parts.month ?? 1
        day = parts.day ?? 1
    }

    /// The day as written.
    public var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    /// Orders by time.
    public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

extension PKCEPolicy: CustomStringConvertible {
    /// A policy as written, or nil.
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

    /// The policy as written.
    public var description: String {
        switch self {
        case .s256: "s256"
        case .s256OrPlain: "s256-or-plain"
        case .exemptUntil(let day): "exempt-until:\(day)"
        }
    }
}

/// How an authorization request proved that its application began it.
public enum PKCEUse: String, Sendable, Hashable, CaseIterable {
    /// By a challenge of the method S256.
    case s256 = "S256"
    /// By a challenge of the method `plain`, under an exception.
    case plain
    /// Not at all, under an exemption.
    case none
}

/// When an application gets a refresh token.
public enum RefreshTokenPolicy: String, Sendable, Hashable, CaseIterable {
    /// When the person allowed `offline_access` (OpenID Connect Core §11).
    case offlineAccess = "offline-access"
    /// With every grant.
    case always
    /// Never.
    case never
}

/// How long refresh tokens live and when they are replaced; what is nil follows from the type of the application.
public struct RefreshTokenLife: Sendable, Hashable {
    /// Whether a token is replaced each time that it is used (RFC 9700 §4.14.2).
    public var rotates: Bool?
    /// How long the answer to a refresh may be repeated while nobody has used it, in seconds, 0 to 600.
    public var gracePeriod: Int?
    /// How long a token outlives its last use, in seconds, 600 to 31536000.
    public var idleLifetime: Int?
    /// How long it lives however often it is used, in seconds, 600 to 63072000.
    public var lifetime: Int?

    /// Makes what is decided; nothing unless given.
    public init(rotates: Bool? = nil, gracePeriod: Int? = nil, idleLifetime: Int? = nil, lifetime: Int? = nil) {
        self.rotates = rotates
        self.gracePeriod = gracePeriod
        self.idleLifetime = idleLifetime
        self.lifetime = lifetime
    }
}

/// How a person is named to an application.
///
/// Wire name `subject_type`, OpenID Connect Core §8.
public enum SubjectType: String, Sendable, Hashable, CaseIterable {
    /// By the same name to every application.
    case `public`
    /// By a name that no application of another host knows.
    case pairwise
}

/// What happens when somebody would sign in for an application inside a web-view (RFC 8252 §8.12).
public enum WebViewPolicy: String, Sendable, Hashable, CaseIterable {
    /// A page explains and leads to the browser.
    case block
    /// The page warns and goes on.
    case warn
    /// Nothing is said.
    case allow
}
