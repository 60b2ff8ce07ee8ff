public import CounterfoilProtocol
public import Foundation

/// What one person has allowed one application, over all its grants: the memory that the consent page and the account page
/// read, and what a person takes back.
public struct Consent: Sendable, Hashable {
    /// Who allowed it.
    public let personID: PersonIdentifier
    /// To which application.
    public let clientID: ClientIdentifier
    /// Everything that any of its grants may still do.
    public var scope: Scope
    /// What the person allowed when last asked about each, for the service itself; what was left out then is not in here.
    ///
    /// What OpenID Connect says of a person stands here, for whichever API it was asked along with.
    public var remembered: Scope
    /// The same for each API that was named (RFC 8707 §2): what was allowed at one says nothing of another.
    public var rememberedAt: [Resource: Scope]
    /// What the application looked like when it was last allowed.
    public var appearance: ClientAppearance
    /// Since when.
    public let since: Date
    /// When the person last allowed it.
    public var allowedAt: Date
    /// When it last got a token; nil while it never did.
    public var lastUsedAt: Date?

    /// Makes a record.
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
    /// Whether the person allowed a scope when last asked about it, at each of some APIs, or for the service itself.
    func remembers(_ token: Scope.Token, at resources: [Resource]) -> Bool {
        guard !resources.isEmpty, !ScopeDefinition.ofPeople.contains(token) else { return remembered.contains(token) }
        return resources.allSatisfy { rememberedAt[$0]?.contains(token) ?? false }
    }

    /// The consent after some of its grants have ended or have become less: no more than those may do that hold, each at its
    /// own APIs; nil where none holds.
    ///
    /// - Parameter live: the scope that is allowed, and the APIs, of every grant that holds.
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

/// A consent with the application that it was given to, read at once.
public struct ConsentFacts: Sendable, Hashable {
    /// What was allowed.
    public let consent: Consent
    /// To which application.
    public let client: RegisteredClient

    /// Makes facts.
    public init(consent: Consent, client: RegisteredClient) {
        self.consent = consent
        self.client = client
    }
}

/// The reason for which a request counts as approved.
public enum ApprovalBasis: Sendable, Hashable {
    /// The user has answered the question on a page.
    case answer
    /// The user has allowed the same before, and was not asked.
    case rememberedConsent
    /// The client is the owner's own, and nobody is asked.
    case firstParty
}

/// An approval as it is recorded: the grant, its code, and under what circumstances it was given.
///
/// The session of the grant is the one in which the user approved; a grant that names no session cannot be recorded.
public struct Approval: Sendable, Hashable {
    /// What is allowed.
    public let grant: Grant
    /// The code that carries it.
    public let code: CodeRecord
    /// What was asked; what is in here and not in the grant was left out.
    public let asked: Scope
    /// What the application looked like.
    public let appearance: ClientAppearance
    /// The revision of the application that the approval was given to.
    public let clientRevision: Int
    /// How the application proved that it began the authorization.
    public let pkce: PKCEUse
    /// The password hash of the user when the session was read; a later change of the password ends the approval.
    public let passwordHash: PasswordHash
    /// The reason for which the request counts as approved.
    public let basis: ApprovalBasis

    /// Makes an approval.
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

    /// Compares the approval with the consent that is stored.
    ///
    /// An approval without a question needs a consent that still allows all of it, to a client that looks the same.
    public func holds(beside stored: Consent?) -> Bool {
        guard basis == .rememberedConsent else { return true }
        guard let stored, stored.appearance == appearance else { return false }
        return grant.allowed.tokens.allSatisfy { stored.remembers($0, at: grant.resources) }
    }

    /// The consent after this approval, given the one before it.
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

    /// What is remembered after this approval, as far as it says something of it: what was asked is as it was answered now.
    private func renewed(_ former: Scope?, where isMeant: (Scope.Token) -> Bool) -> Scope {
        Scope(
            (former?.tokens ?? []).filter { !asked.contains($0) || !isMeant($0) } + grant.allowed.tokens.filter(isMeant)
        )
    }
}

/// What happened when a person took something back.
public enum NarrowConsentOutcome: Sendable, Hashable {
    /// It holds no more than what was kept.
    case narrowed
    /// There is nothing to take back.
    case notFound
}

/// What people have allowed, by person and application.
public protocol ConsentStore: Sendable {
    /// What a person has allowed an application; nil when nothing, or when it was taken back.
    func consent(of person: PersonIdentifier, to client: ClientIdentifier) async throws(StoreFault) -> Consent?
    /// Everything that a person has allowed, last allowed first.
    func consents(of person: PersonIdentifier) async throws(StoreFault) -> [ConsentFacts]
    /// Takes from every grant of a person to an application what is not in `kept`; a grant that has nothing left is revoked.
    ///
    /// With an empty `kept` the consent is gone and every grant is revoked. A code that waits is dead when anything was taken
    /// from its grant, so that no redemption that has read the former scope gives it away afterwards.
    func narrowConsent(
        of person: PersonIdentifier,
        to client: ClientIdentifier,
        keeping kept: Scope,
        at time: Date
    ) async throws(StoreFault) -> NarrowConsentOutcome
}
