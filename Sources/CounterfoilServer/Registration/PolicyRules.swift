package import CounterfoilProtocol
import CounterfoilTokens
package import Foundation

extension ClientRules {
    /// The lifetimes of a token that may be set, in seconds: a minute to a day.
    package static let tokenLifetimes = 60...86_400
    /// The grace periods in which a refresh may be retried, in seconds: up to ten minutes.
    package static let refreshGracePeriods = 0...600
    /// The idle lifetimes of a refresh token, in seconds: ten minutes to a year.
    package static let refreshIdleLifetimes = 600...31_536_000
    /// The total lifetimes of a refresh token, in seconds: ten minutes to two years.
    package static let refreshLifetimes = 600...63_072_000

    /// Checks the policy that an administrator has entered for a client.
    ///
    /// A verified claim needs a claimed https redirect URI. An exemption needs a date that is not in the
    /// past. Only a confidential client may turn off the rotation of refresh tokens.
    package func check(
        _ draft: PolicyDraft,
        of type: ClientType,
        redirectURIs: [RedirectURI],
        scope: Scope,
        now: Date
    ) throws(ClientRegistrationRefusal) -> ClientPolicy {
        var problems: [ClientProblem] = []
        var policy = ClientPolicy.standard(for: type)
        policy.isFirstParty = draft.isFirstParty
        policy.isVouchedFor = draft.isVouchedFor || draft.isFirstParty
        policy.requiresState = draft.requiresState
        policy.isClaimedHTTPSVerified = draft.isClaimedHTTPSVerified
        if draft.isClaimedHTTPSVerified && !(type == .native && redirectURIs.contains(where: \.isHTTPS)) {
            problems.append(ClientProblem(.claimedHTTPSVerified, .nothingClaimed))
        }
        if let pkce = PKCEPolicy(draft.pkce) {
            policy.pkce = pkce
            if case .exemptUntil(let day) = pkce, day < CalendarDay(of: now) {
                problems.append(ClientProblem(.exemptUntil, .exemptionOver))
            }
        } else if PolicyDraft.exemption(in: draft.pkce) != nil {
            problems.append(ClientProblem(.exemptUntil, .notADay))
        } else {
            problems.append(ClientProblem(.pkce, .notAPKCEPolicy))
        }
        if let refreshTokens = RefreshTokenPolicy(rawValue: draft.refreshTokens) {
            policy.refreshTokens = refreshTokens
        } else {
            problems.append(ClientProblem(.refreshTokens, .notARefreshTokenPolicy))
        }
        if let webViews = WebViewPolicy(rawValue: draft.webViews) {
            policy.webViews = webViews
        } else {
            problems.append(ClientProblem(.webViews, .notAWebViewPolicy))
        }
        if let algorithm = SigningAlgorithm(rawValue: draft.idTokenAlgorithm), KeyRing.algorithms.contains(algorithm) {
            policy.idTokenAlgorithm = algorithm
        } else {
            problems.append(ClientProblem(.idTokenAlgorithm, .notAnAlgorithm))
        }
        if let subjectType = SubjectType(rawValue: draft.subjectType) {
            policy.subjectType = subjectType
        } else {
            problems.append(ClientProblem(.subjectType, .notASubjectType))
        }
        policy.machineScope = machineScope(draft, of: type, registered: scope, &problems)
        policy.refreshTokenLife = refreshTokenLife(draft, of: type, &problems)
        policy.accessTokenLifetime = seconds(
            draft.accessTokenLifetime, Self.tokenLifetimes, .accessTokenLifetime, .notALifetime, &problems)
        policy.idTokenLifetime = seconds(
            draft.idTokenLifetime, Self.tokenLifetimes, .idTokenLifetime, .notALifetime, &problems)
        guard problems.isEmpty else { throw ClientRegistrationRefusal(problems) }
        return policy
    }

    /// Checks the scopes for requests without a user, which must be registered for the service.
    private func machineScope(
        _ draft: PolicyDraft, of type: ClientType, registered: Scope, _ problems: inout [ClientProblem]
    ) -> Scope {
        let names = draft.machineScopes
        guard type == .service else {
            if !names.isEmpty { problems.append(ClientProblem(.machineScopes, .machineScopeNotUsed)) }
            return Scope()
        }
        var tokens: [Scope.Token] = []
        for name in names {
            func refuse(_ reason: ClientProblem.Reason) {
                problems.append(ClientProblem(.machineScopes, reason, ["name": .text(String(name.prefix(100)))]))
            }
            guard let token = Scope.Token(name) else {
                refuse(.notAScope)
                continue
            }
            if !registered.contains(token) {
                refuse(.machineScopeNotRegistered)
            } else if ScopeDefinition.ofPeople.contains(token) {
                refuse(.machineScopeNeedsUser)
            } else {
                tokens.append(token)
            }
        }
        return Scope(tokens)
    }

    private func refreshTokenLife(
        _ draft: PolicyDraft, of type: ClientType, _ problems: inout [ClientProblem]
    ) -> RefreshTokenLife {
        var life = RefreshTokenLife()
        switch draft.rotatesRefreshTokens {
        case "": break
        case "true": life.rotates = true
        // RFC 9700 §2.2.2: the refresh tokens of a public client rotate, so that the server detects a copy.
        case "false" where !type.isConfidential:
            problems.append(ClientProblem(.rotatesRefreshTokens, .rotationNeeded))
        case "false": life.rotates = false
        default: problems.append(ClientProblem(.rotatesRefreshTokens, .notARotation))
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
        _ text: String, _ range: ClosedRange<Int>, _ field: ClientField, _ reason: ClientProblem.Reason,
        _ problems: inout [ClientProblem]
    ) -> Int? {
        let text = text.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty else { return nil }
        guard text.utf8.count <= 8, let seconds = Int(text), range.contains(seconds) else {
            let limits = ["least": LocalizedText.Value.number(range.lowerBound), "most": .number(range.upperBound)]
            problems.append(ClientProblem(field, reason, limits))
            return nil
        }
        return seconds
    }
}

extension RedirectURI {
    fileprivate var isHTTPS: Bool { if case .https = kind { true } else { false } }
}

extension RegisteredClient {
    /// Creates a client at its first registration.
    package init(
        id: ClientIdentifier,
        type: ClientType,
        owner: PersonIdentifier?,
        _ checked: CheckedClient,
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

    /// Returns the client with a changed registration; its logo and its policy stay.
    ///
    /// The decisions of an administrator hold as ``settled(after:byAdministrator:)`` says.
    package func rewritten(
        _ checked: CheckedClient, byAdministrator: Bool, now: Date
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
        return client.settled(after: self, byAdministrator: byAdministrator)
    }

    /// Returns the client with those decisions of an administrator that still hold after a change.
    ///
    /// An administrator decides about what is registered at that time. A developer who changes any of it
    /// loses the trust and the approved scopes until an administrator decides again. A change never
    /// approves a scope.
    ///
    /// - Parameters:
    ///   - former: The client before the change.
    ///   - byAdministrator: Whether an administrator made the change.
    package func settled(after former: RegisteredClient, byAdministrator: Bool) -> RegisteredClient {
        var client = self
        client.policy.machineScope = client.policy.machineScope.intersection(former.scope).intersection(scope)
        guard !byAdministrator else { return client }
        if basisOfTrust != former.basisOfTrust { client.policy.loseTrust() }
        let claims = { (client: RegisteredClient) in client.redirectURIs.filter(\.isHTTPS).map(\.rawValue).sorted() }
        if claims(client) != claims(former) || client.appleApps != former.appleApps
            || client.androidApps != former.androidApps
        {
            client.policy.isClaimedHTTPSVerified = false
        }
        return client
    }

    /// The part of the client that an administrator judges before trusting it: its registration, with
    /// sorted lists.
    ///
    /// Only the decisions themselves, the revision and the time of the change are left out. A new property
    /// therefore counts unless it is named here.
    var basisOfTrust: RegisteredClient {
        var basis = self
        basis.policy = .standard(for: type)
        basis.changedAt = createdAt
        basis.revision = 0
        basis.redirectURIs.sort { $0.rawValue < $1.rawValue }
        basis.postLogoutRedirectURIs.sort { $0.rawValue < $1.rawValue }
        basis.origins.sort { $0.rawValue < $1.rawValue }
        basis.appleApps.sort { $0.rawValue < $1.rawValue }
        basis.androidApps.sort { $0.description < $1.description }
        return basis
    }
}

extension ClientPolicy {
    /// Withdraws the trust of an administrator: users are asked for consent again and warned of an
    /// unverified publisher, and no scope is approved for requests without a user.
    mutating func loseTrust() {
        isFirstParty = false
        isVouchedFor = false
        machineScope = Scope()
    }
}

extension PolicyDraft {
    package static let exemptionPrefix = "exempt-until:"

    /// Extracts the date of an exemption from a PKCE policy as entered; nil for every other policy.
    package static func exemption(in policy: String) -> String? {
        policy.hasPrefix(exemptionPrefix) ? String(policy.dropFirst(exemptionPrefix.count)) : nil
    }
}
