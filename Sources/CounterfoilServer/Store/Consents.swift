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
    /// What the person allowed when last asked about each; what was left out then is not in here.
    public var remembered: Scope
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
        appearance: ClientAppearance,
        since: Date,
        allowedAt: Date,
        lastUsedAt: Date? = nil
    ) {
        self.personID = personID
        self.clientID = clientID
        self.scope = scope
        self.remembered = remembered
        self.appearance = appearance
        self.since = since
        self.allowedAt = allowedAt
        self.lastUsedAt = lastUsedAt
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

/// An approval as it is recorded: the grant, its code, and under what circumstances it was given.
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

    /// Makes an approval.
    public init(
        grant: Grant, code: CodeRecord, asked: Scope, appearance: ClientAppearance, clientRevision: Int, pkce: PKCEUse
    ) {
        self.grant = grant
        self.code = code
        self.asked = asked
        self.appearance = appearance
        self.clientRevision = clientRevision
        self.pkce = pkce
    }

    /// The consent after this approval, given the one before it.
    public func consent(after former: Consent?) -> Consent {
        let remembered = (former?.remembered.tokens ?? []).filter { !asked.contains($0) } + grant.scope.tokens
        return Consent(
            personID: grant.personID,
            clientID: grant.clientID,
            scope: Scope((former?.scope.tokens ?? []) + grant.scope.tokens),
            remembered: Scope(remembered),
            appearance: appearance,
            since: former?.since ?? grant.createdAt,
            allowedAt: grant.createdAt,
            lastUsedAt: former?.lastUsedAt
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
