public import CounterfoilProtocol
public import Foundation

/// The consent of one user to one client, combined over all grants of the user to the client.
///
/// The consent page and the account page show the consent, and the user can withdraw it on the account page.
public struct Consent: Sendable, Hashable {
    /// The user who consented.
    public let userID: UserIdentifier
    /// The client that got the consent.
    public let clientID: ClientIdentifier
    /// The scopes that the user allowed in any grant to the client and has not withdrawn.
    public var scope: Scope
    /// The scopes that the user allowed in requests that named no API; the last answer about each scope counts.
    ///
    /// While ``appearance`` is unchanged, a later request for these scopes without an API can be approved without
    /// asking the user. The standard scopes that the user allowed are all here, even those of requests that named an
    /// API, because standard scopes concern the user and not an API.
    public var remembered: Scope
    /// For each API, the scopes that the user allowed in requests that named the API (RFC 8707 §2), or from whose scope
    /// it followed (RFC 9068 §3).
    ///
    /// The last answer about each scope and API counts. Consent for one API is not consent for another. Standard scopes
    /// are in ``remembered`` only.
    public var rememberedAt: [Resource: Scope]
    /// The digest of the client's appearance at the last approval; if the appearance has changed, the user is asked
    /// again.
    public var appearance: ClientAppearance
    /// The time of the first approval.
    public let since: Date
    /// The time of the last approval.
    public var allowedAt: Date
    /// The time when the client last got a token under the consent; nil if it never did.
    public var lastUsedAt: Date?

    /// Creates a record; by default, no API is remembered and the consent was never used.
    public init(
        userID: UserIdentifier,
        clientID: ClientIdentifier,
        scope: Scope,
        remembered: Scope,
        rememberedAt: [Resource: Scope] = [:],
        appearance: ClientAppearance,
        since: Date,
        allowedAt: Date,
        lastUsedAt: Date? = nil
    ) {
        self.userID = userID
        self.clientID = clientID
        self.scope = scope
        self.remembered = remembered
        self.rememberedAt = rememberedAt
        self.appearance = appearance
        self.since = since
        self.allowedAt = allowedAt
        self.lastUsedAt = lastUsedAt
    }
}

extension Consent {
    /// Returns whether the user allowed a scope for the APIs of a request.
    ///
    /// The user's last answer about the scope counts. For a standard scope, the APIs make no difference.
    package func remembers(_ token: Scope.Token, at consentTarget: ConsentTarget) -> Bool {
        guard !token.isStandard else { return remembered.contains(token) }
        return switch consentTarget {
        case .service: remembered.contains(token)
        case .apis(let resources): resources.allSatisfy { rememberedAt[$0]?.contains(token) ?? false }
        // The scope means access to this API alone, also where the user allowed it without an API.
        case .apiOfScope(let resource):
            rememberedAt[resource]?.contains(token) ?? false || remembered.contains(token)
        }
    }

    /// Returns whether the user allowed a scope for the APIs of a request, or in a request without an API.
    ///
    /// Such a scope is not new to the user, even if the server asks about it again because the request names an API.
    package func knows(_ token: Scope.Token, at consentTarget: ConsentTarget) -> Bool {
        remembers(token, at: consentTarget) || remembered.contains(token)
    }

    /// Returns a copy limited to the scopes and APIs of the remaining grants; nil if no grant remains.
    ///
    /// A store calls this method in the transaction of ``GrantStore/revokeGrant(_:because:at:recording:)``,
    /// ``ConsentStore/narrowConsent(of:to:keeping:at:recording:)`` and
    /// ``ScopeStore/removeScope(_:takingFromUses:at:recording:)``, after it has changed the grants.
    ///
    /// - Parameter live: The allowed scope and the APIs of every grant that is not revoked.
    public func following(_ live: [(scope: Scope, resources: [Resource])]) -> Consent? {
        guard !live.isEmpty else { return nil }
        var consent = self
        consent.scope = scope.intersection(Scope(live.flatMap(\.scope.tokens)))
        let atService = Set(live.filter(\.resources.isEmpty).flatMap(\.scope.tokens))
        consent.remembered = Scope(
            remembered.intersection(consent.scope).tokens.filter {
                atService.contains($0) || ScopeDefinition.ofUsers.contains($0)
            })
        consent.rememberedAt = [:]
        for (resource, remembered) in rememberedAt {
            let left = remembered.intersection(
                Scope(live.filter { $0.resources.contains(resource) }.flatMap(\.scope.tokens)))
            if !left.isEmpty { consent.rememberedAt[resource] = left }
        }
        return consent
    }
}

/// A consent with its client, read in one transaction.
public struct ConsentFacts: Sendable, Hashable {
    /// The consent, which has not been withdrawn.
    public let consent: Consent
    /// The client that has the consent, with its current registration.
    public let client: RegisteredClient

    /// Creates facts that a store has read in one transaction.
    public init(consent: Consent, client: RegisteredClient) {
        self.consent = consent
        self.client = client
    }
}

/// The reason why an authorization request is approved.
public enum ApprovalBasis: Sendable, Hashable {
    /// The user approved the request on a page.
    case answer
    /// A remembered consent covers the request, so the user was not asked.
    case rememberedConsent
    /// The client belongs to the owner of the server, so the user was not asked.
    case firstParty
}

/// The APIs for which a user allows the scope of a request, each of which a ``Consent`` remembers separately.
public enum ConsentTarget: Sendable, Hashable {
    /// No API: the request names none, and none follows from its scope.
    case service
    /// The APIs that the request names (RFC 8707 §2).
    case apis([Resource])
    /// The API that follows from the scope of a request that names none (RFC 9068 §3).
    case apiOfScope(Resource)

    /// The APIs of the request.
    fileprivate var resources: [Resource] {
        switch self {
        case .service: []
        case .apis(let resources): resources
        case .apiOfScope(let resource): [resource]
        }
    }
}

/// An approval to be recorded: the grant, its code, and the facts that the store checks.
///
/// The grant must name the session in which the user approved (``Grant/sessionID``). A store rejects an approval whose
/// grant names none.
public struct Approval: Sendable, Hashable {
    /// The grant to be recorded, whose ``Grant/sessionID`` must not be nil.
    public let grant: Grant
    /// The code that the client can redeem for the tokens of the grant.
    public let code: CodeRecord
    /// The scope that the request asks the user to allow.
    ///
    /// It includes the scopes that cover individually requested claims (see ``Grant/claimScope``).
    ///
    /// The user declined the tokens of this scope that are in neither ``Grant/scope`` nor ``Grant/claimScope``.
    public let asked: Scope
    /// The APIs for which the consent remembers the answer.
    public let consentTarget: ConsentTarget
    /// The digest of the client's appearance when the request was approved; it becomes ``Consent/appearance``.
    public let appearance: ClientAppearance
    /// The revision of the client when the request was approved.
    ///
    /// The store rejects the approval if the client has changed since then.
    public let clientRevision: Int
    /// The PKCE method of the authorization request.
    public let pkce: PKCEUse
    /// The password hash of the user when the session was read; nil for a user without a password.
    ///
    /// The store rejects the approval if the password has changed since then.
    public let passwordHash: PasswordHash?
    /// The reason why the request is approved.
    public let basis: ApprovalBasis
    /// The pushed request that is approved, which the store removes; nil if the request was not pushed.
    public let pushedRequest: ArtefactDigest?
    /// The client that the store adds if it has no client with this identifier; nil if the client must exist.
    ///
    /// A client with a metadata document is stored when a user first allows it something.
    public let newClient: RegisteredClient?
    /// The events that describe the approval, which the store appends to the audit log with it.
    public let events: [AuditEvent]
    /// The event that the store appends as well if it adds ``newClient``.
    public let newClientEvent: AuditEvent?

    /// Creates an approval, which takes effect when ``GrantStore/recordConsent(_:)`` stores it.
    ///
    /// If `consentTarget` is nil, the consent remembers the answer for the APIs of the grant.
    public init(
        grant: Grant, code: CodeRecord, asked: Scope, consentTarget: ConsentTarget? = nil, appearance: ClientAppearance,
        clientRevision: Int, pkce: PKCEUse, passwordHash: PasswordHash?, basis: ApprovalBasis,
        pushedRequest: ArtefactDigest? = nil, newClient: RegisteredClient? = nil, events: [AuditEvent] = [],
        newClientEvent: AuditEvent? = nil
    ) {
        self.grant = grant
        self.code = code
        self.asked = asked
        self.consentTarget = consentTarget ?? (grant.resources.isEmpty ? .service : .apis(grant.resources))
        self.appearance = appearance
        self.clientRevision = clientRevision
        self.pkce = pkce
        self.passwordHash = passwordHash
        self.basis = basis
        self.pushedRequest = pushedRequest
        self.newClient = newClient
        self.events = events
        self.newClientEvent = newClientEvent
    }

    /// Returns whether the stored consent still supports the approval.
    ///
    /// An approval with the basis ``ApprovalBasis/rememberedConsent`` needs a stored consent that still covers all
    /// of its scope. The appearance of the client must also be unchanged. An approval with another basis needs no
    /// stored consent.
    public func holds(beside stored: Consent?) -> Bool {
        guard basis == .rememberedConsent else { return true }
        guard let stored, stored.appearance == appearance else { return false }
        return grant.allowed.tokens.allSatisfy { stored.remembers($0, at: consentTarget) }
    }

    /// Returns the consent to be stored with this approval; `former` is the stored consent, or nil for none.
    public func consent(after former: Consent?) -> Consent {
        let ofUsers = ScopeDefinition.ofUsers
        let isForService = consentTarget == .service
        var rememberedAt = former?.rememberedAt ?? [:]
        for resource in consentTarget.resources {
            let renewed = renewed(rememberedAt[resource]) { !ofUsers.contains($0) }
            rememberedAt[resource] = renewed.isEmpty ? nil : renewed
        }
        return Consent(
            userID: grant.userID,
            clientID: grant.clientID,
            scope: Scope((former?.scope.tokens ?? []) + grant.allowed.tokens),
            remembered: renewed(former?.remembered) { isForService || ofUsers.contains($0) },
            rememberedAt: rememberedAt,
            appearance: appearance,
            since: former?.since ?? grant.createdAt,
            allowedAt: grant.createdAt,
            lastUsedAt: former?.lastUsedAt
        )
    }

    /// Returns the remembered scope after this approval.
    ///
    /// The scopes that the user declined are removed from `former`, and those that the user allowed and `isMeant`
    /// selects are added. A scope that the user declined for an API is therefore not remembered without an API either.
    private func renewed(_ former: Scope?, where isMeant: (Scope.Token) -> Bool) -> Scope {
        let allowed = grant.allowed
        return Scope(
            (former?.tokens ?? []).filter { !asked.contains($0) || allowed.contains($0) }
                + allowed.tokens.filter(isMeant))
    }
}

/// The outcome of ``ConsentStore/narrowConsent(of:to:keeping:at:recording:)``.
public enum NarrowConsentOutcome: Sendable, Hashable {
    /// The consent and its grants allow no more than the kept scope.
    case narrowed
    /// The user has given the client no consent; nothing was written.
    case notFound
}

/// The consents of users; there is at most one for each user and client.
public protocol ConsentStore: Sendable {
    /// Reads the consent of a user to a client; nil if there is none or if it was withdrawn.
    func consent(of user: UserIdentifier, to client: ClientIdentifier) async throws(StoreFault) -> Consent?
    /// Reads all consents of a user, most recently allowed first.
    func consents(of user: UserIdentifier) async throws(StoreFault) -> [ConsentFacts]
    /// Reads at most `limit` consents of a user with their clients, in the order of the client identifiers.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - last: The client of the last consent of the page before; nil begins with the first consent.
    ///   - limit: The maximum number of consents.
    func consents(
        of user: UserIdentifier, after last: ClientIdentifier?, limit: Int
    ) async throws(StoreFault) -> [ConsentFacts]
    /// Removes all scopes except `kept` from the grants that a user gave to a client; a grant with no scope left is
    /// revoked.
    ///
    /// With an empty `kept`, the store deletes the consent and revokes every grant. With any other `kept`, it reduces
    /// the consent to the remaining grants (``Consent/following(_:)``), and deletes it if there are none.
    ///
    /// If the store removes a scope from a grant, it invalidates the unredeemed code of the grant in the same
    /// transaction. A concurrent redemption therefore cannot issue a token with the former scope.
    func narrowConsent(
        of user: UserIdentifier,
        to client: ClientIdentifier,
        keeping kept: Scope,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> NarrowConsentOutcome
}
