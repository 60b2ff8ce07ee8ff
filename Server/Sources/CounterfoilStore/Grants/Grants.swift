@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The identifier of a grant, 128 random bits.
public struct GrantIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The identifier in stores and tokens, which begins with `gr_`.
    public let rawValue: String

    /// Parses an identifier; nil if malformed.
    public init?(_ rawValue: String) {
        guard rawValue.hasPrefix("gr_"), rawValue.utf8.count <= 64, !rawValue.utf8.contains(0) else { return nil }
        self.rawValue = rawValue
    }

    /// Creates a random identifier.
    public init(random: RandomBytes = RandomBytes()) {
        rawValue = "gr_" + Base64URL.encode(random.bytes(16))
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }
}

/// The identifier of a page, such as the consent page, that a user can answer only once.
public struct InteractionIdentifier: Sendable, Hashable {
    /// The identifier, 128 random bits in base64url.
    public let rawValue: String

    /// Parses an identifier; nil unless it is 16 bytes in base64url.
    public init?(_ rawValue: String) {
        guard Base64URL.decode(rawValue)?.count == 16 else { return nil }
        self.rawValue = rawValue
    }

    /// Creates a random identifier.
    public init(random: RandomBytes = RandomBytes()) {
        rawValue = Base64URL.encode(random.bytes(16))
    }
}

/// The permission that a user gave to a client in one authorization.
///
/// Every code and token for a user belongs to a grant. Revoking a grant revokes its codes and tokens.
public struct Grant: Sendable, Hashable {
    /// The precision of ``lastUsedAt`` in seconds: a refresh updates the stored time only if that time is at least
    /// this old.
    public static let useResolution: TimeInterval = 60

    /// The identifier, which the access tokens of the grant contain.
    public let id: GrantIdentifier
    /// The user who gave the permission.
    public let userID: UserIdentifier
    /// The client that got the permission; deleting the client deletes the grant.
    public let clientID: ClientIdentifier
    /// The allowed scope; a user can withdraw a part of it.
    public var scope: Scope
    /// The APIs that the authorization request named (RFC 8707 §2); empty if it named none.
    public let resources: [Resource]
    /// The claims that the authorization request named individually (OpenID Connect Core §5.5).
    public let claims: RequestedClaims
    /// The scopes that the user allowed only because they cover ``claims``; none of them is in ``scope``.
    ///
    /// Tokens do not contain these scopes. The client gets only the claims in ``claims``, not the other claims that
    /// these scopes cover.
    public var claimScope: Scope
    /// The session in which the user approved, `sid`; nil if it is unknown.
    public let sessionID: SessionIdentifier?
    /// The time when the user signed in, `auth_time`.
    public let authenticatedAt: Date
    /// The methods by which the user signed in, `amr`.
    public let methods: AuthenticationMethods
    /// The context of the sign-in, `acr`; it can be weaker than that of ``methods``, if the client asked for this one.
    public let context: AuthenticationContext
    /// The device on which the client was signed in.
    public let device: GrantDevice
    /// The time of the approval.
    public let createdAt: Date
    /// The time when a token was last issued under the grant, with the precision ``useResolution``, or that of
    /// ``RefreshFamily/useResolution`` if its refresh token is not rotated.
    public var lastUsedAt: Date
    /// The time of the revocation; nil if the grant is not revoked.
    public var revokedAt: Date?

    /// Creates a record of a grant; by default it has a random identifier and is not revoked.
    public init(
        id: GrantIdentifier = GrantIdentifier(),
        userID: UserIdentifier,
        clientID: ClientIdentifier,
        scope: Scope,
        resources: [Resource] = [],
        claims: RequestedClaims = RequestedClaims(),
        claimScope: Scope = Scope(),
        sessionID: SessionIdentifier? = nil,
        authenticatedAt: Date? = nil,
        methods: AuthenticationMethods = [.password],
        context: AuthenticationContext? = nil,
        device: GrantDevice = GrantDevice(),
        createdAt: Date,
        lastUsedAt: Date,
        revokedAt: Date? = nil
    ) {
        self.id = id
        self.userID = userID
        self.clientID = clientID
        self.scope = scope
        self.resources = resources
        self.claims = claims
        self.claimScope = claimScope
        self.sessionID = sessionID
        self.authenticatedAt = authenticatedAt ?? createdAt
        self.methods = methods
        self.context = context ?? methods.context
        self.device = device
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.revokedAt = revokedAt
    }
}

extension Grant {
    /// Everything that the user allowed: ``scope`` and ``claimScope``.
    package var allowed: Scope { scope.union(claimScope) }
}

/// An authorization code and its bindings (RFC 6749 §4.1.2, RFC 7636 §4.4).
///
/// Only ``usedAt``, ``attempt`` and ``failedRedemptions`` change.
public struct CodeRecord: Sendable, Hashable {
    /// The number of redemptions with a wrong `code_verifier` after which a code is invalid.
    public static let failedRedemptionLimit = 5
    /// The number of seconds after the redemption for which another request gets 503 while ``attempt`` is stored.
    public static let undecidedPeriod: TimeInterval = 60

    /// The digest of the code.
    public let digest: ArtefactDigest
    /// The digest of the identifier of the page on which the user approved; one page yields at most one code.
    public let interaction: ArtefactDigest
    /// The grant that the code belongs to.
    public let grantID: GrantIdentifier
    /// The redirect URI that got the authorization response; nil for a `device_code`, which is sent to no redirect URI.
    ///
    /// If the authorization request named it, the token request must repeat it (RFC 6749 §4.1.3).
    public let redirectURI: ResponseRedirectURI?
    /// The `scope` of the authorization request; the grant may allow less.
    ///
    /// The `scope` of a token request, if any, must be a subset of this scope and the scope of the grant combined.
    public let requestedScope: Scope
    /// The S256 challenge that the `code_verifier` must match; nil if the request had no `code_challenge`.
    ///
    /// For a challenge with the method `plain`, this is the S256 challenge of the same verifier.
    public let codeChallenge: CodeChallenge?
    /// The key of which the token request must prove possession (`dpop_jkt`, RFC 9449 §10); nil if any key may be used,
    /// or none.
    public let keyThumbprint: KeyThumbprint?
    /// The `nonce` of the authorization request; nil if it had none.
    public let nonce: Nonce?
    /// The time when the server issued the code.
    public let issuedAt: Date
    /// The time from which the code cannot be redeemed, by default 60 seconds after ``issuedAt``.
    public let expiresAt: Date
    /// The time of the redemption; nil if the code is unused.
    public var usedAt: Date?
    /// The attempt that redeemed the code, until a store records that its tokens were sent; nil from then on, and if
    /// the code is unused.
    ///
    /// While it is stored, a second redemption is refused, but revokes nothing: the client may have sent it because the
    /// first one got no tokens.
    public var attempt: CommitAttempt?
    /// The number of redemptions with a wrong `code_verifier`.
    public var failedRedemptions: Int

    /// Creates a record; by default, the code is unused and has no failed redemptions.
    public init(
        digest: ArtefactDigest,
        interaction: ArtefactDigest,
        grantID: GrantIdentifier,
        redirectURI: ResponseRedirectURI?,
        requestedScope: Scope = Scope(),
        codeChallenge: CodeChallenge?,
        keyThumbprint: KeyThumbprint? = nil,
        nonce: Nonce?,
        issuedAt: Date,
        expiresAt: Date,
        usedAt: Date? = nil,
        attempt: CommitAttempt? = nil,
        failedRedemptions: Int = 0
    ) {
        self.digest = digest
        self.interaction = interaction
        self.grantID = grantID
        self.redirectURI = redirectURI
        self.requestedScope = requestedScope
        self.codeChallenge = codeChallenge
        self.keyThumbprint = keyThumbprint
        self.nonce = nonce
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
        self.attempt = attempt
        self.failedRedemptions = failedRedemptions
    }
}

extension CodeRecord {
    /// Whether the code is a `device_code` (RFC 8628), which dies with the session in which the user approved it.
    public var isDeviceCode: Bool { redirectURI == nil }
}

/// A code with its grant and user, read in one transaction.
public struct CodeFacts: Sendable, Hashable {
    /// The code, which may be used or expired.
    public let code: CodeRecord
    /// The grant that the code belongs to, which may be revoked.
    public let grant: Grant
    /// The user who gave the permission, whose account may be disabled.
    public let user: User

    /// Creates facts that a store has read in one transaction.
    public init(code: CodeRecord, grant: Grant, user: User) {
        self.code = code
        self.grant = grant
        self.user = user
    }
}

/// A grant with its user, read in one transaction.
public struct GrantFacts: Sendable, Hashable {
    /// The grant, which may be revoked.
    public let grant: Grant
    /// The user who gave the permission, whose account may be disabled.
    public let user: User
    /// Whether the client of the grant is suspended.
    public let isClientSuspended: Bool

    /// Creates facts that a store has read in one transaction.
    public init(grant: Grant, user: User, isClientSuspended: Bool = false) {
        self.grant = grant
        self.user = user
        self.isClientSuspended = isClientSuspended
    }

    /// Whether the grant is not revoked, its user not disabled and its client not suspended, so that tokens issued
    /// under it are valid.
    public var hold: Bool { grant.revokedAt == nil && user.disabledAt == nil && !isClientSuspended }
}

/// The outcome of ``GrantStore/recordConsent(_:)``.
public enum RecordConsentOutcome: Sendable, Hashable {
    /// The grant, the code and the consent were stored.
    case recorded
    /// The user answered this page before (``CodeRecord/interaction``); nothing was written.
    case alreadyAnswered
    /// The pushed request was removed or has expired (``Approval/pushedRequest``); nothing was written.
    case pushedRequestGone
    /// The client does not exist; nothing was written.
    case clientDeleted
    /// The client was changed after the user was asked; nothing was written.
    case clientChanged
    /// The user does not exist or is disabled; nothing was written.
    case userNotActive
    /// The session has ended or expired, or the password was changed after the session was read; nothing was
    /// written.
    case sessionEnded
    /// The approval relies on a remembered consent that no longer covers it; nothing was written.
    case consentWithdrawn
    /// The code is a `device_code` whose request was answered before or has expired; nothing was written.
    case deviceNotPending
}

/// The reason why a grant was revoked.
public enum RevocationReason: String, Sendable, Hashable, CaseIterable {
    /// The client requested the revocation (RFC 7009).
    case client = "application"
    /// The code was redeemed twice (RFC 6749 §4.1.2).
    case codeReplay = "code-replay"
    /// A rotated refresh token was used when a retry was no longer allowed (RFC 9700 §4.14.2).
    case refreshReuse = "refresh-reuse"
    /// The user withdrew the consent.
    case user = "person"
    /// The session in which the user approved has ended, or the user signed out everywhere.
    case session
    /// The only remaining scope of the grant was deleted from the server.
    case scopeRemoved = "scope-removed"
}

/// The outcome of ``GrantStore/revokeGrant(_:because:at:recording:)``.
public enum RevokeGrantOutcome: Sendable, Hashable {
    /// The grant is revoked from now on.
    case revoked
    /// The grant was revoked before; nothing was written.
    case alreadyRevoked
    /// There is no such grant; nothing was written.
    case notFound
}

/// The position of a grant in the list of all grants of a user.
public struct GrantPosition: Sendable, Hashable {
    /// The client of the grant.
    public let clientID: ClientIdentifier
    /// The identifier of the grant.
    public let id: GrantIdentifier

    /// Creates the position of a grant.
    public init(clientID: ClientIdentifier, id: GrantIdentifier) {
        self.clientID = clientID
        self.id = id
    }
}

/// The grants of users, and their authorization codes.
public protocol GrantStore: Sendable {
    /// Records an approval: its grant, its code and the resulting consent.
    ///
    /// In the same transaction, the store checks the following conditions in this order. It returns the outcome for
    /// the first condition that fails:
    ///
    /// 1. The page has not been answered before (``CodeRecord/interaction``). If the grant of the stored answer is that
    ///    of this approval, the approval was recorded before: the outcome is ``RecordConsentOutcome/recorded``, and
    ///    nothing is written.
    /// 2. The client exists, or is ``Approval/newClient``, which the store then adds.
    /// 3. The client still has the pushed request, if there is one (``Approval/pushedRequest``).
    /// 4. The revision of the client is ``Approval/clientRevision``.
    /// 5. The user exists and is not disabled.
    /// 6. A session with the `sid` of the grant exists, belongs to the user, and expires after the grant is created.
    ///    The session counts even if its token was replaced since the user approved (see ``SessionStore``). The
    ///    password hash of the user is ``Approval/passwordHash``.
    /// 7. The stored consent still supports the approval (``Approval/holds(beside:)``).
    /// 8. If the code is a `device_code` (``CodeRecord/isDeviceCode``), a device authorization of the client with the
    ///    digest of the code is pending when the grant is created. The code replaces this record.
    ///
    /// The store removes the pushed request, so that it yields at most one code.
    ///
    /// If the request had no S256 challenge, the store counts the approval in ``ClientStore/pkceExceptionUse(of:)``.
    func recordConsent(_ approval: Approval) async throws(StoreFault) -> RecordConsentOutcome
    /// Reads a code with its grant and user, even if the code is used or has expired.
    func code(_ digest: ArtefactDigest) async throws(StoreFault) -> CodeFacts?
    /// Redeems a code: marks it as used, updates the time of use of its grant and consent, and stores `family` if
    /// it is given.
    ///
    /// `end` is the expiry of the access token, which ``AppSignInStore`` reads.
    ///
    /// The code must be unused, with fewer failed redemptions than ``CodeRecord/failedRedemptionLimit``. Its grant
    /// must not be revoked, and its user must not be disabled. If the code is a `device_code`, the session of its grant
    /// must be stored and must not have expired. The store does not check the expiry time of the code; the caller has
    /// checked it.
    ///
    /// If two attempts race, exactly one gets ``ConsumeCodeOutcome/consumed``. The store keeps it in
    /// ``CodeRecord/attempt``. If the code has this attempt already, and its grant and user still meet the conditions,
    /// nothing changes, and the outcome is the same again.
    func consumeCode(
        _ digest: ArtefactDigest,
        beginning family: RefreshFamily?,
        givingAccessUntil end: Date,
        attempt: CommitAttempt,
        at time: Date
    ) async throws(StoreFault) -> ConsumeCodeOutcome
    /// Records that a redeemed code was presented a second time, unless it is known that the tokens of the redemption
    /// were sent (RFC 6749 §4.1.2).
    ///
    /// A code that another version of the server redeemed counts as answered.
    func contestRedemption(
        _ digest: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> ContestRedemptionOutcome
    /// Records for redemptions whether their tokens were sent, in one transaction.
    ///
    /// A settlement counts if ``CodeRecord/attempt`` is its attempt; any other changes nothing. If the tokens were
    /// sent, the attempt is removed, and the grant is revoked if the redemption is contested
    /// (``RevocationReason/codeReplay``). If they were not sent, the code becomes unused again, and its token family is
    /// deleted. For each revoked grant, the store appends the event that `event` returns.
    ///
    /// - Returns: The grants that this call has revoked.
    @discardableResult
    func settleRedemptions(
        _ settlements: [RedemptionSettlement], at time: Date,
        recording event: @escaping @Sendable (RevokedGrant) -> AuditEvent
    ) async throws(StoreFault) -> [RevokedGrant]
    /// Counts a redemption with a wrong `code_verifier`, up to ``CodeRecord/failedRedemptionLimit``, and returns
    /// the new count.
    ///
    /// The count of a redeemed code does not change. For an unknown code, the store returns 0.
    @discardableResult
    func countFailedRedemption(_ digest: ArtefactDigest) async throws(StoreFault) -> Int
    /// Reads a grant, even if it is revoked.
    func grant(_ id: GrantIdentifier) async throws(StoreFault) -> Grant?
    /// Reads a grant with its user, even if the grant is revoked or the user disabled.
    ///
    /// The client of the returned grant exists, because deleting a client deletes its grants.
    func grantFacts(_ id: GrantIdentifier) async throws(StoreFault) -> GrantFacts?
    /// Reads at most `limit` grants of a user with their token families, in the order of their clients and identifiers.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - last: The position of the last grant of the page before; nil begins with the first grant.
    ///   - limit: The maximum number of grants.
    func grants(
        of user: UserIdentifier, after last: GrantPosition?, limit: Int
    ) async throws(StoreFault) -> [GrantWithTokens]
    /// Revokes a grant, and reduces the consent to the scopes of the remaining grants.
    ///
    /// The refresh statistics of the client count the revocation. With ``RevocationReason/refreshReuse`` they also
    /// count a reuse.
    @discardableResult
    func revokeGrant(
        _ id: GrantIdentifier,
        because reason: RevocationReason,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RevokeGrantOutcome
}
