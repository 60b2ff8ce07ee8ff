public import CounterfoilProtocol
public import Foundation

/// The consent of one user to one client, over all its grants.
///
/// The consent page and the account page read it, and the user can withdraw it.
public struct Consent: Sendable, Hashable {
    /// The user who consented.
    public let personID: PersonIdentifier
    /// The client that got the consent.
    public let clientID: ClientIdentifier
    /// The union of the scopes that its grants still allow.
    public var scope: Scope
    /// The scopes that the user allowed when last asked about each, for the service itself.
    ///
    /// A scope that was declined then is not included.
    ///
    /// OpenID Connect scopes about a user are kept here, even if they were asked for together with an API.
    public var remembered: Scope
    /// The same for each API that was named (RFC 8707 §2); consent for one API says nothing about another.
    public var rememberedAt: [Resource: Scope]
    /// The digest of the client's appearance when it was last allowed; a change of it voids the remembered
    /// consent.
    public var appearance: ClientAppearance
    /// The time of the first approval.
    public let since: Date
    /// The time of the last approval.
    public var allowedAt: Date
    /// The time when the client last got a token; nil if it never did.
    public var lastUsedAt: Date?

    /// Creates a record.
    public init(
        personID: PersonIdentifier,
        clientID: ClientIdentifier,
        scope: Scope,
        remembered: Scope,
        rememberedAt: [Resource: Scope] = [:],
        appearance: ClientAppearance,
        since: Date,
        allowedAt: Date,
        lastUsedAt: Date? = nil
    ) {
        self.personID = personID
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
    /// Returns whether the user allowed a scope at each of these APIs, or for the service if there are none.
    ///
    /// The user's last answer about the scope counts.
    func remembers(_ token: Scope.Token, at resources: [Resource]) -> Bool {
        guard !resources.isEmpty, !ScopeDefinition.ofPeople.contains(token) else { return remembered.contains(token) }
        return resources.allSatisfy { rememberedAt[$0]?.contains(token) ?? false }
    }

    /// Returns a copy limited to the scopes and APIs of the remaining grants; nil if no grant remains.
    ///
    /// A store calls it in the transaction of ``GrantStore/revokeGrant(_:because:at:)``,
    /// ``ConsentStore/narrowConsent(of:to:keeping:at:)`` and ``ScopeStore/removeScope(_:takingFromUses:at:)``.
    ///
    /// - Parameter live: The allowed scope and the APIs of every grant that is not revoked.
    public func following(_ live: [(scope: Scope, resources: [Resource])]) -> Consent? {
        guard !live.isEmpty else { return nil }
        var consent = self
        consent.scope = scope.intersection(Scope(live.flatMap(\.scope.tokens)))
        let atService = Set(live.filter(\.resources.isEmpty).flatMap(\.scope.tokens))
        consent.remembered = Scope(
            remembered.intersection(consent.scope).tokens.filter {
                atService.contains($0) || ScopeDefinition.ofPeople.contains($0)
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
    /// The consent.
    public let consent: Consent
    /// The client.
    public let client: RegisteredClient

    /// Creates facts.
    public init(consent: Consent, client: RegisteredClient) {
        self.consent = consent
        self.client = client
    }
}

/// The reason why a request counts as approved.
public enum ApprovalBasis: Sendable, Hashable {
    /// The user approved the request on a page.
    case answer
    /// The user allowed the same before and was not asked again.
    case rememberedConsent
    /// The client belongs to the owner of the server, so the user was not asked.
    case firstParty
}

/// An approval to be recorded: the grant, its code and the circumstances.
///
/// The grant names the session in which the user approved. A store cannot record a grant without a session.
public struct Approval: Sendable, Hashable {
    /// The grant to be recorded.
    public let grant: Grant
    /// The code that is issued for the grant.
    public let code: CodeRecord
    /// The requested scope.
    ///
    /// The user declined the scope tokens that the grant does not contain.
    public let asked: Scope
    /// The digest of the client's appearance on the page.
    public let appearance: ClientAppearance
    /// The revision of the client that the approval was given to.
    public let clientRevision: Int
    /// The proof with which the client began the authorization.
    public let pkce: PKCEUse
    /// The password hash of the user when the session was read.
    ///
    /// A later change of the password invalidates the approval.
    public let passwordHash: PasswordHash
    /// The reason why the request counts as approved.
    public let basis: ApprovalBasis

    /// Creates an approval.
    public init(
        grant: Grant, code: CodeRecord, asked: Scope, appearance: ClientAppearance, clientRevision: Int, pkce: PKCEUse,
        passwordHash: PasswordHash, basis: ApprovalBasis
    ) {
        self.grant = grant
        self.code = code
        self.asked = asked
        self.appearance = appearance
        self.clientRevision = clientRevision
        self.pkce = pkce
        self.passwordHash = passwordHash
        self.basis = basis
    }

    /// Returns whether the stored consent still supports the approval.
    ///
    /// An approval from ``ApprovalBasis/rememberedConsent`` needs a consent that still covers all of it, for
    /// a client that looks the same. Every other approval holds.
    public func holds(beside stored: Consent?) -> Bool {
        guard basis == .rememberedConsent else { return true }
        guard let stored, stored.appearance == appearance else { return false }
        return grant.allowed.tokens.allSatisfy { stored.remembers($0, at: grant.resources) }
    }

    /// Returns the consent after this approval, given the previous one.
    public func consent(after former: Consent?) -> Consent {
        let ofPeople = ScopeDefinition.ofPeople
        let isForService = grant.resources.isEmpty
        var rememberedAt = former?.rememberedAt ?? [:]
        for resource in grant.resources {
            let renewed = renewed(rememberedAt[resource]) { !ofPeople.contains($0) }
            rememberedAt[resource] = renewed.isEmpty ? nil : renewed
        }
        return Consent(
            personID: grant.personID,
            clientID: grant.clientID,
            scope: Scope((former?.scope.tokens ?? []) + grant.allowed.tokens),
            remembered: renewed(former?.remembered) { isForService || ofPeople.contains($0) },
            rememberedAt: rememberedAt,
            appearance: appearance,
            since: former?.since ?? grant.createdAt,
            allowedAt: grant.createdAt,
            lastUsedAt: former?.lastUsedAt
        )
    }

    /// Returns the remembered scope after this approval.
    ///
    /// The new answer replaces the earlier one for every requested scope that `isMeant` selects.
    private func renewed(_ former: Scope?, where isMeant: (Scope.Token) -> Bool) -> Scope {
        Scope(
            (former?.tokens ?? []).filter { !asked.contains($0) || !isMeant($0) } + grant.allowed.tokens.filter(isMeant)
        )
    }
}

/// The outcome of ``ConsentStore/narrowConsent(of:to:keeping:at:)``.
public enum NarrowConsentOutcome: Sendable, Hashable {
    /// The consent and its grants allow no more than the kept scope.
    case narrowed
    /// There is no such consent; nothing was written.
    case notFound
}

/// The consents of users, by user and client.
public protocol ConsentStore: Sendable {
    /// Reads the consent of a user to a client; nil if there is none or if it was withdrawn.
    func consent(of person: PersonIdentifier, to client: ClientIdentifier) async throws(StoreFault) -> Consent?
    /// Reads all consents of a user, most recently allowed first.
    func consents(of person: PersonIdentifier) async throws(StoreFault) -> [ConsentFacts]
    /// Reduces every grant of a user to a client to a scope; a grant with no scope left is revoked.
    ///
    /// With an empty `kept`, the consent is deleted and every grant is revoked. The consent follows from the
    /// remaining grants (``Consent/following(_:)``).
    ///
    /// If a grant loses scope, its unredeemed code becomes invalid in the same transaction. A concurrent
    /// redemption can then not issue a token with the former scope.
    func narrowConsent(
        of person: PersonIdentifier,
        to client: ClientIdentifier,
        keeping kept: Scope,
        at time: Date
    ) async throws(StoreFault) -> NarrowConsentOutcome
}
