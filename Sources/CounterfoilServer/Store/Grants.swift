public import CounterfoilProtocol
public import Foundation

/// The identifier of a grant, 128 random bits.
public struct GrantIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The identifier as a store and a token hold it.
    public let rawValue: String

    /// An identifier that a store or a token holds, or nil.
    public init?(_ rawValue: String) {
        guard rawValue.hasPrefix("gr_"), rawValue.utf8.count <= 64 else { return nil }
        self.rawValue = rawValue
    }

    /// A new identifier.
    public init(random: RandomBytes = RandomBytes()) {
        rawValue = "gr_" + Base64URL.encode(random.bytes(16))
    }

    /// The identifier as a store and a token hold it.
    public var description: String { rawValue }
}

/// The identifier of one page that asks the person something, so that it is answered once.
public struct InteractionIdentifier: Sendable, Hashable {
    /// The identifier, 128 random bits in base64url.
    public let rawValue: String

    /// An identifier that a ticket holds.
    public init?(_ rawValue: String) {
        guard Base64URL.decode(rawValue)?.count == 16 else { return nil }
        self.rawValue = rawValue
    }

    /// A new identifier.
    public init(random: RandomBytes = RandomBytes()) {
        rawValue = Base64URL.encode(random.bytes(16))
    }
}

/// What one person allowed one application at one time.
///
/// Codes and tokens belong to a grant; revoking it ends them all.
public struct Grant: Sendable, Hashable {
    /// How exactly the time of its last use is kept while its refresh tokens are used, in seconds.
    public static let useResolution: TimeInterval = 60

    /// The identifier.
    public let id: GrantIdentifier
    /// Who allowed it.
    public let personID: PersonIdentifier
    /// To which application.
    public let clientID: ClientIdentifier
    /// What; a person can take some of it back.
    public var scope: Scope
    /// For which APIs; empty when none was named.
    public let resources: [Resource]
    /// Which claims were asked for one by one.
    public let claims: RequestedClaims
    /// The scopes that were allowed for ``claims`` alone, none of which is in ``scope``: tokens do not carry them, and of what
    /// they stand for only the claims that were named are given.
    public var claimScope: Scope
    /// The session in which it was allowed, `sid`; nil when that is not known any more.
    public let sessionID: SessionIdentifier?
    /// When the person had signed in, `auth_time`.
    public let authenticatedAt: Date
    /// Since when.
    public let createdAt: Date
    /// When it last gave a token.
    public var lastUsedAt: Date
    /// When it was revoked; nil while it holds.
    public var revokedAt: Date?

    /// Makes a record.
    public init(
        id: GrantIdentifier = GrantIdentifier(),
        personID: PersonIdentifier,
        clientID: ClientIdentifier,
        scope: Scope,
        resources: [Resource] = [],
        claims: RequestedClaims = RequestedClaims(),
        claimScope: Scope = Scope(),
        sessionID: SessionIdentifier? = nil,
        authenticatedAt: Date? = nil,
        createdAt: Date,
        lastUsedAt: Date,
        revokedAt: Date? = nil
    ) {
        self.id = id
        self.personID = personID
        self.clientID = clientID
        self.scope = scope
        self.resources = resources
        self.claims = claims
        self.claimScope = claimScope
        self.sessionID = sessionID
        self.authenticatedAt = authenticatedAt ?? createdAt
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.revokedAt = revokedAt
    }
}

extension Grant {
    /// Everything that the user has allowed by it.
    package var allowed: Scope { scope.union(claimScope) }
}

/// An authorization code and what it is bound to (RFC 6749 §4.1.2, RFC 7636 §4.4).
///
/// Its facts never change, except ``usedAt`` and ``failedRedemptions``.
public struct CodeRecord: Sendable, Hashable {
    /// How many wrong redemptions a code survives: with the fifth it is dead.
    public static let failedRedemptionLimit = 5

    /// The digest of the code.
    public let digest: ArtefactDigest
    /// The page on which it was decided, so that one page gives one code.
    public let interaction: ArtefactDigest
    /// The grant that it belongs to.
    public let grantID: GrantIdentifier
    /// The redirect URI that the answer went to.
    public let redirectURI: RedirectURI
    /// Whether the request itself named it; then the exchange must repeat it (RFC 6749 §4.1.3).
    public let redirectURIWasGiven: Bool
    /// `scope` of the authorization request, which a token request may repeat; more than the grant where less was granted.
    public let requestedScope: Scope
    /// `code_challenge`, always of the method S256; nil when the application need not prove possession.
    public let codeChallenge: CodeChallenge?
    /// `nonce` of the request.
    public let nonce: Nonce?
    /// When the person signed in, `auth_time`.
    public let authenticatedAt: Date
    /// When the code was made.
    public let issuedAt: Date
    /// When the code dies.
    public let expiresAt: Date
    /// When it was redeemed; nil while it is not.
    public var usedAt: Date?
    /// How often it was presented with a wrong verifier.
    public var failedRedemptions: Int

    /// Makes a record of a code that nobody has presented.
    public init(
        digest: ArtefactDigest,
        interaction: ArtefactDigest,
        grantID: GrantIdentifier,
        redirectURI: RedirectURI,
        redirectURIWasGiven: Bool,
        requestedScope: Scope = Scope(),
        codeChallenge: CodeChallenge?,
        nonce: Nonce?,
        authenticatedAt: Date,
        issuedAt: Date,
        expiresAt: Date,
        usedAt: Date? = nil,
        failedRedemptions: Int = 0
    ) {
        self.digest = digest
        self.interaction = interaction
        self.grantID = grantID
        self.redirectURI = redirectURI
        self.redirectURIWasGiven = redirectURIWasGiven
        self.requestedScope = requestedScope
        self.codeChallenge = codeChallenge
        self.nonce = nonce
        self.authenticatedAt = authenticatedAt
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
        self.failedRedemptions = failedRedemptions
    }
}

/// A code with its grant and its person, read at once.
public struct CodeFacts: Sendable, Hashable {
    /// The code.
    public let code: CodeRecord
    /// The grant that it belongs to.
    public let grant: Grant
    /// Who allowed it.
    public let person: Person

    /// Makes facts.
    public init(code: CodeRecord, grant: Grant, person: Person) {
        self.code = code
        self.grant = grant
        self.person = person
    }
}

/// A grant with its person, read at once.
public struct GrantFacts: Sendable, Hashable {
    /// The grant.
    public let grant: Grant
    /// Who allowed it.
    public let person: Person

    /// Makes facts.
    public init(grant: Grant, person: Person) {
        self.grant = grant
        self.person = person
    }

    /// Whether the grant and its person hold, so that what was issued under it counts.
    public var hold: Bool { grant.revokedAt == nil && person.disabledAt == nil }
}

/// What happened when an approval was to be recorded.
public enum RecordConsentOutcome: Sendable, Hashable {
    /// The grant and the code exist now.
    case recorded
    /// The page was answered before; nothing was written.
    case alreadyAnswered
    /// The application does not exist any more; nothing was written.
    case clientGone
    /// The application is not what it was when the person was asked; nothing was written.
    case clientChanged
    /// The person does not exist or may not sign in any more; nothing was written.
    case personGone
    /// The session has ended or expired, or the password was changed since the session was read; nothing was written.
    case sessionEnded
    /// The user was not asked, and the consent that answered is withdrawn or narrower now; nothing was written.
    case consentWithdrawn
}

/// What happened when a code was to be redeemed.
public enum ConsumeCodeOutcome: Sendable, Hashable {
    /// This redemption is the one that counts.
    case consumed
    /// Another one came first.
    case alreadyUsed
    /// The code, its grant or its person has ended meanwhile.
    case gone
}

/// Why a grant was revoked.
public enum RevocationReason: String, Sendable, Hashable, CaseIterable {
    /// The application asked for it (RFC 7009).
    case application
    /// Its code was redeemed twice (RFC 6749 §4.1.2).
    case codeReplay = "code-replay"
    /// A refresh token came back that had been replaced (RFC 9700 §4.14.2).
    case refreshReuse = "refresh-reuse"
    /// The person took it back.
    case person
    /// The session ended in which it was allowed.
    case session
    /// The only scope that it had does not exist any more.
    case scopeRemoved = "scope-removed"
}

/// What happened when a grant was to be revoked.
public enum RevokeGrantOutcome: Sendable, Hashable {
    /// It is revoked now.
    case revoked
    /// It was revoked before.
    case alreadyRevoked
    /// There is none.
    case notFound
}

/// What people have allowed, and the codes that carry it.
public protocol GrantStore: Sendable {
    /// Records what a person allowed, with the code for it and the consent after it, unless the page was answered before.
    ///
    /// The session of the grant must be alive in the same step: it exists by its `sid`, belongs to the user and has not
    /// expired, and the user's password hash is still ``Approval/passwordHash``. A session that continues under its `sid` with
    /// another token is alive.
    /// An approval without a question also needs the consent that it goes by (``Approval/holds(beside:)``).
    ///
    /// An approval without S256 is counted (see ``ClientStore/pkceExceptionUse(of:)``).
    func recordConsent(_ approval: Approval) async throws(StoreFault) -> RecordConsentOutcome
    /// The code of a digest with its grant and person, also when it was used or has expired.
    func code(_ digest: ArtefactDigest) async throws(StoreFault) -> CodeFacts?
    /// Redeems a code: marks it used, its grant and its consent as used now, and begins its line of refresh tokens where there is
    /// to be one, unless it was used, has died of failed redemptions, or its grant or person has ended.
    func consumeCode(
        _ digest: ArtefactDigest,
        beginning family: RefreshFamily?,
        at time: Date
    ) async throws(StoreFault) -> ConsumeCodeOutcome
    /// Counts a redemption with a wrong verifier of a code that is not used yet; the count after it.
    @discardableResult
    func countFailedRedemption(_ digest: ArtefactDigest) async throws(StoreFault) -> Int
    /// The grant of an identifier, also when it is revoked.
    func grant(_ id: GrantIdentifier) async throws(StoreFault) -> Grant?
    /// The grant of an identifier with its person, also when either has ended; a grant goes with its application.
    func grantFacts(_ id: GrantIdentifier) async throws(StoreFault) -> GrantFacts?
    /// Revokes a grant and with it everything that it gave, and counts that for its application.
    @discardableResult
    func revokeGrant(
        _ id: GrantIdentifier,
        because reason: RevocationReason,
        at time: Date
    ) async throws(StoreFault) -> RevokeGrantOutcome
}
