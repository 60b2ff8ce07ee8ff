public import CounterfoilProtocol
import CounterfoilTokens
public import Foundation

extension ApplicationRules {
    /// The seconds that a token may be set to live: a minute to a day.
    public static let tokenLifetimes = 60...86_400
    /// The seconds for which the answer to a refresh may be repeated: up to ten minutes.
    public static let refreshGracePeriods = 0...600
    /// The seconds that a refresh token may outlive its last use: ten minutes to a year.
    public static let refreshIdleLifetimes = 600...31_536_000
    /// The seconds that a refresh token may live: ten minutes to two years.
    public static let refreshLifetimes = 600...63_072_000

    /// Checks what an administrator wrote about the policy of an application.
    ///
    /// The verified claim needs something that is claimed, an exemption needs a day that is not over, and whoever keeps a refresh
    /// token has to authenticate.
    public func check(
        _ draft: PolicyDraft,
        of type: ClientType,
        redirectURIs: [RedirectURI],
        now: Date
    ) throws(ApplicationRefusal) -> ClientPolicy {
        var problems: [ApplicationProblem] = []
        var policy = ClientPolicy.standard(for: type)
        policy.isFirstParty = draft.isFirstParty
        policy.isVouchedFor = draft.isVouchedFor || draft.isFirstParty
        policy.requiresState = draft.requiresState
        policy.isClaimedHTTPSVerified = draft.isClaimedHTTPSVerified
        if draft.isClaimedHTTPSVerified && !(type == .native && redirectURIs.contains(where: \.isHTTPS)) {
            problems.append(ApplicationProblem(.claimedHTTPSVerified, .nothingClaimed))
        }
        if let pkce = PKCEPolicy(draft.pkce) {
            policy.pkce = pkce
            if case .exemptUntil(let day) = pkce, day < CalendarDay(of: now) {
                problems.append(ApplicationProblem(.exemptUntil, .exemptionOver))
            }
        } else if PolicyDraft.exemption(in: draft.pkce) != nil {
            problems.append(ApplicationProblem(.exemptUntil, .notADay))
        } else {
            problems.append(ApplicationProblem(.pkce, .notAPKCEPolicy))
        }
        if let refreshTokens = RefreshTokenPolicy(rawValue: draft.refreshTokens) {
            policy.refreshTokens = refreshTokens
        } else {
            problems.append(ApplicationProblem(.refreshTokens, .notARefreshTokenPolicy))
        }
        if let webViews = WebViewPolicy(rawValue: draft.webViews) {
            policy.webViews = webViews
        } else {
            problems.append(ApplicationProblem(.webViews, .notAWebViewPolicy))
        }
        if let algorithm = SigningAlgorithm(rawValue: draft.idTokenAlgorithm), KeyRing.algorithms.contains(algorithm) {
            policy.idTokenAlgorithm = algorithm
        } else {
            problems.append(ApplicationProblem(.idTokenAlgorithm, .notAnAlgorithm))
        }
        if let subjectType = SubjectType(rawValue: draft.subjectType) {
            policy.subjectType = subjectType
        } else {
            problems.append(ApplicationProblem(.subjectType, .notASubjectType))
        }
        policy.refreshTokenLife = refreshTokenLife(draft, of: type, &problems)
        policy.accessTokenLifetime = seconds(
            draft.accessTokenLifetime, Self.tokenLifetimes, .accessTokenLifetime, .notALifetime, &problems)
        policy.idTokenLifetime = seconds(
            draft.idTokenLifetime, Self.tokenLifetimes, .idTokenLifetime, .notALifetime, &problems)
        guard problems.isEmpty else { throw ApplicationRefusal(problems) }
        return policy
    }

    private func refreshTokenLife(
        _ draft: PolicyDraft, of type: ClientType, _ problems: inout [ApplicationProblem]
    ) -> RefreshTokenLife {
        var life = RefreshTokenLife()
        switch draft.rotatesRefreshTokens {
        case "": break
        case "true": life.rotates = true
        // RFC 9700 §2.2.2: a public client's are replaced, so that a copy is noticed.
        case "false" where !type.isConfidential:
            problems.append(ApplicationProblem(.rotatesRefreshTokens, .rotationNeeded))
        case "false": life.rotates = false
        default: problems.append(ApplicationProblem(.rotatesRefreshTokens, .notARotation))
        }
        life.gracePeriod = seconds(
            draft.refreshGracePeriod, Self.refreshGracePeriods, .refreshGracePeriod, .notARefreshTime, &problems)
        life.idleLifetime = seconds(
            draft.refreshIdleLifetime, Self.refreshIdleLifetimes, .refreshIdleLifetime, .notARefreshTime, &problems)
        life.lifetime = seconds(
            draft.refreshLifetime, Self.refreshLifetimes, .refreshLifetime, .notARefreshTime, &problems)
        return life
    }

    private func seconds(
        _ text: String, _ range: ClosedRange<Int>, _ field: ApplicationField, _ refusal: ApplicationPhrase,
        _ problems: inout [ApplicationProblem]
    ) -> Int? {
        let text = text.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty else { return nil }
        guard text.utf8.count <= 8, let seconds = Int(text), range.contains(seconds) else {
            let limits = ["least": Text.Value.number(range.lowerBound), "most": .number(range.upperBound)]
            problems.append(ApplicationProblem(field, refusal, limits))
            return nil
        }
        return seconds
    }
}

extension RedirectURI {
    fileprivate var isHTTPS: Bool { if case .https = kind { true } else { false } }
}

extension RegisteredClient {
    /// An application as it is registered for the first time.
    public init(
        id: ClientIdentifier,
        type: ClientType,
        owner: PersonIdentifier?,
        _ checked: CheckedApplication,
        policy: ClientPolicy,
        logo: LogoIdentifier? = nil,
        now: Date
    ) {
        self.init(
            id: id,
            type: type,
            owner: owner,
            presentation: checked.presentation,
            redirectURIs: checked.redirectURIs,
            scope: checked.scope,
            optionalScope: checked.optionalScope,
            origins: checked.origins,
            appleApps: checked.appleApps,
            androidApps: checked.androidApps,
            postLogoutRedirectURIs: checked.postLogoutRedirectURIs,
            backchannelLogoutURI: checked.backchannelLogoutURI,
            keys: checked.keys,
            policy: policy,
            createdAt: now
        )
        presentation.logo = logo
    }

    /// The application with what was written about it anew; its picture and its policy stay.
    ///
    /// What somebody has verified was verified of what they saw: when its developer changes how it looks, where answers
    /// go or what it may ask for, nobody answers for it until an administrator has looked again.
    public func rewritten(
        _ checked: CheckedApplication, byAdministrator: Bool, now: Date
    ) -> RegisteredClient {
        var client = self
        client.presentation = checked.presentation
        client.presentation.logo = presentation.logo
        client.redirectURIs = checked.redirectURIs
        client.scope = checked.scope
        client.optionalScope = checked.optionalScope
        client.origins = checked.origins
        client.appleApps = checked.appleApps
        client.androidApps = checked.androidApps
        client.keys = checked.keys
        client.postLogoutRedirectURIs = checked.postLogoutRedirectURIs
        client.backchannelLogoutURI = checked.backchannelLogoutURI
        client.changedAt = now
        guard !byAdministrator else { return client }
        if ClientAppearance(of: client) != ClientAppearance(of: self) || client.scope != scope
            || client.optionalScope != optionalScope
        {
            client.policy.loseTrust()
        }
        let claims = { (client: RegisteredClient) in client.redirectURIs.filter(\.isHTTPS).map(\.rawValue).sorted() }
        if claims(client) != claims(self) || client.appleApps != appleApps || client.androidApps != androidApps {
            client.policy.isClaimedHTTPSVerified = false
        }
        return client
    }
}

extension ClientPolicy {
    /// Takes back what an administrator has said of who stands behind the application: people are asked for consent again,
    /// and told that its publisher is not known.
    mutating func loseTrust() {
        isFirstParty = false
        isVouchedFor = false
    }
}
