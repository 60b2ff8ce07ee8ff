@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The device on which an app was signed in, as far as its requests tell.
///
/// It helps a user to recognize a sign-in. It proves nothing, because an app and a user agent can send any value.
public struct GrantDevice: Sendable, Hashable {
    /// The maximum length of ``name``, in characters.
    public static let nameLimit = 64

    /// The name that the app gave the device (parameter `device_name`); nil if it sent none.
    public let name: String?
    /// The `User-Agent` of the browser in which the user approved, or of the device itself in the device grant (RFC
    /// 8628), at most 256 printable ASCII characters; may be empty.
    public let userAgent: String
    /// The source IP address of the same request, at most 64 bytes; may be empty.
    public let source: String
    /// Whether the device is another one than that of the browser in which the user approved (RFC 8628).
    ///
    /// A sign-out everywhere else ends its grant, too.
    public let isSeparate: Bool

    /// Creates a record with at most the first 64 characters of `name`, 256 printable ASCII characters of `userAgent`
    /// and 64 bytes of `source`.
    public init(name: String? = nil, userAgent: String = "", source: String = "", isSeparate: Bool = false) {
        self.name = name.map { String($0.prefix(Self.nameLimit)) }
        self.userAgent = String(
            decoding: userAgent.utf8.filter { (0x20...0x7E).contains($0) }.prefix(256), as: UTF8.self)
        self.source = source.prefix(bytes: 64)
        self.isSeparate = isSeparate
    }
}

/// A grant that still gives a client access: its refresh token or its access token is valid.
public struct AppSignIn: Sendable, Hashable {
    /// The grant, which is not revoked.
    public let grant: Grant
    /// The client that has the grant, with its current registration.
    public let client: RegisteredClient
    /// The time when a token was last issued under the grant, with the precision of ``RefreshFamily/lastUsedAt``.
    public let lastUsedAt: Date

    /// Creates a record that a store has read in one transaction.
    public init(grant: Grant, client: RegisteredClient, lastUsedAt: Date) {
        self.grant = grant
        self.client = client
        self.lastUsedAt = lastUsedAt
    }
}

/// The grants of a user that still give access, as far as a page shows them.
public struct AppSignIns: Sendable, Hashable {
    /// The most recently used ones, in this order.
    public let recent: [AppSignIn]
    /// The number of all.
    public let count: Int

    /// Creates a list that a store has read in one transaction.
    public init(recent: [AppSignIn], count: Int) {
        self.recent = recent
        self.count = count
    }
}

/// The times without a refresh after which a refresh token expires, for clients whose policy sets none.
public struct DefaultIdleLifetimes: Sendable, Hashable {
    /// The seconds for single-page clients.
    public let inBrowser: Int
    /// The seconds for all other clients.
    public let elsewhere: Int

    /// Creates the values of the settings.
    public init(inBrowser: Int, elsewhere: Int) {
        self.inBrowser = inBrowser
        self.elsewhere = elsewhere
    }
}

/// The access tokens that revoked grants of one client with one scope have left behind.
///
/// An API that verifies access tokens by itself accepts them until they expire (RFC 9068).
public struct LeftoverAccess: Sendable, Hashable {
    /// The client that has the access tokens.
    public let clientID: ClientIdentifier
    /// The scope of the grants, of which each token carries a part.
    public let scope: Scope
    /// The latest expiry of an access token whose issue is recorded.
    public let until: Date
    /// The last revocation of one of the grants, after which no token was issued.
    public let endedAt: Date
    /// Whether a grant had a refresh token, whose uses are recorded with the precision ``RefreshFamily/useResolution``
    /// if it is not rotated.
    public let hadRefreshTokens: Bool

    /// Creates a record that a store has read in one transaction.
    public init(clientID: ClientIdentifier, scope: Scope, until: Date, endedAt: Date, hadRefreshTokens: Bool) {
        self.clientID = clientID
        self.scope = scope
        self.until = until
        self.endedAt = endedAt
        self.hadRefreshTokens = hadRefreshTokens
    }
}

/// The sign-ins of apps that a user can end one by one.
public protocol AppSignInStore: Sendable {
    /// Reads the grants of a user that still give access, most recently used first.
    ///
    /// They are not revoked, and have a refresh token that is neither expired nor idle, or an access token that has not
    /// expired. Without a redeemed code, a grant has neither.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - time: The time at which the tokens must be valid.
    ///   - idle: The idle lifetimes of refresh tokens of clients whose policy sets none.
    ///   - limit: The maximum number of returned grants.
    func appSignIns(
        of user: UserIdentifier, at time: Date, idle: DefaultIdleLifetimes, limit: Int
    ) async throws(StoreFault) -> AppSignIns
    /// Reads what revoked grants of a user have left behind that is valid at a time, or was issued shortly before.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - client: The client of the grants; nil for those of all clients.
    ///   - grant: The only grant to read; nil for all.
    ///   - time: The time.
    func leftoverAccess(
        of user: UserIdentifier, to client: ClientIdentifier?, under grant: GrantIdentifier?, at time: Date
    ) async throws(StoreFault) -> [LeftoverAccess]
    /// Revokes a grant of a user, as ``GrantStore/revokeGrant(_:because:at:recording:)`` does.
    ///
    /// The grant of another user is ``RevokeGrantOutcome/notFound``.
    func revokeGrant(
        _ id: GrantIdentifier, of user: UserIdentifier, because reason: RevocationReason, at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RevokeGrantOutcome
}
