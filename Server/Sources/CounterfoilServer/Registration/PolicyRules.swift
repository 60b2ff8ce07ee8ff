package import CounterfoilProtocol
package import CounterfoilStore
import CounterfoilTokens
package import Foundation

extension ClientRules {
    /// The allowed lifetimes of access tokens and ID tokens, in seconds: a minute to a day.
    package static let tokenLifetimes = 60...86_400
    /// The allowed grace periods in which a refresh may be retried, in seconds: none to ten minutes.
    package static let refreshGracePeriods = 0...600
    /// The allowed lifetimes of an unused refresh token, in seconds: ten minutes to a year.
    package static let refreshIdleLifetimes = 600...31_536_000
    /// The allowed total lifetimes of a refresh token family, in seconds: ten minutes to two years.
    package static let refreshLifetimes = 600...63_072_000

    /// Checks the policy that an administrator has entered for a client.
    ///
    /// - A client with a development redirect URI cannot be first-party.
    /// - https redirect URIs can be marked as verified only for a native or single-page client that has such a URI.
    /// - The last day of a PKCE exemption must not be in the past.
    /// - The rotation of refresh tokens can be turned off only for a confidential client.
    package func check(
        _ draft: PolicyDraft,
        of type: ClientType,
        redirectURIs: [RedirectURI],
        postLogoutRedirectURIs: [RedirectURI],
        scope: Scope,
        now: Date
    ) throws(ClientRegistrationRefusal) -> ClientPolicy {
        var problems: [ClientProblem] = []
        var policy = ClientPolicy.standard(for: type)
        policy.isFirstParty = draft.isFirstParty
        policy.isVouchedFor = draft.isVouchedFor || draft.isFirstParty
        let isInDevelopment = (redirectURIs + postLogoutRedirectURIs).contains { $0.isForDevelopment(of: type) }
        if draft.isFirstParty && isInDevelopment {
            problems.append(ClientProblem(.firstParty, .firstPartyInDevelopment))
        }
        policy.requiresState = draft.requiresState
        policy.requiresPushedRequests = draft.requiresPushedRequests
        policy.requiresBoundTokens = draft.requiresBoundTokens
        policy.isClaimedHTTPSVerified = draft.isClaimedHTTPSVerified
        if draft.isClaimedHTTPSVerified, !type.canClaimHTTPS || !redirectURIs.contains(where: \.isHTTPS) {
            problems.append(ClientProblem(.claimedHTTPSVerified, .nothingClaimed))
        }
        if let pkce = PKCEPolicy(draft.pkce) {
            policy.pkce = pkce
            // RFC 9700 §2.1.1: a nonce can take the place of PKCE only if the client authenticates.
            if [.s256OrNonce, .optional].contains(pkce), !PKCEPolicy.safe(for: type).contains(.s256OrNonce) {
                problems.append(ClientProblem(.pkce, .onlyS256))
            }
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
        if let minimum = AuthenticationContext(rawValue: draft.minimumAuthentication) {
            policy.minimumAuthentication = minimum
        } else {
            problems.append(ClientProblem(.minimumAuthentication, .notAnAuthentication))
        }
        if let algorithm = DeveloperChoices.algorithm(draft.idTokenAlgorithm) {
            policy.idTokenAlgorithm = algorithm
        } else {
            problems.append(ClientProblem(.idTokenAlgorithm, .notAnAlgorithm))
        }
        if let putsUserClaims = Bool(draft.userClaimsInIDToken) {
            policy.putsUserClaimsInIDToken = putsUserClaims
        } else {
            problems.append(ClientProblem(.userClaimsInIDToken, .notAYesOrNo))
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

    /// Checks the scopes for requests without a user.
    ///
    /// Only a client of type `service` may have any. Each must be registered for the client and not concern a user.
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
            } else if ScopeDefinition.ofUsers.contains(token) {
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
        // RFC 9700 §2.2.2: the refresh tokens of a public client must rotate, so that the use of a stolen token is
        // detected.
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

extension ClientType {
    /// Whether an administrator can verify that https redirect URIs belong to a client of this type.
    ///
    /// A confidential client needs no such proof, because it authenticates.
    package var canClaimHTTPS: Bool {
        switch self {
        case .native, .singlePage: true
        case .web, .device, .service: false
        }
    }
}

extension RedirectURI {
    fileprivate var isHTTPS: Bool { if case .https = kind { true } else { false } }
}

extension RegisteredClient {
    /// Creates a client from a registration that has been checked; the developer's choices replace those of `policy`.
    package init(
        id: ClientIdentifier,
        type: ClientType,
        owner: UserIdentifier?,
        _ checked: CheckedClient,
        policy: ClientPolicy,
        approval: ClientApproval,
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
            policy: policy.adopting(checked.choices),
            approval: approval,
            testers: checked.testers,
            createdAt: now
        )
        presentation.logo = logo
    }

    /// Returns the client with a changed registration.
    ///
    /// The client keeps its logo. It also keeps its policy, apart from the developer's choices and the decisions that
    /// ``settled(after:byAdministrator:unapproved:)`` revokes.
    package func rewritten(
        _ checked: CheckedClient, byAdministrator: Bool, unapproved: NewClientApproval, now: Date
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
        client.testers = checked.testers
        client.policy = policy.adopting(checked.choices)
        client.changedAt = now
        return client.settled(after: self, byAdministrator: byAdministrator, unapproved: unapproved)
    }

    /// Returns the changed client after withdrawing each decision of an administrator that no longer applies.
    ///
    /// A decision covers only the registration that the administrator saw:
    /// - After any change by a developer, the client is no longer trusted, and no scope is approved for requests
    ///   without a user. It is like a new client, unless it waits for an approval already.
    /// - After a change of the https redirect URIs, of `RegisteredClient.appleApps` or of
    ///   `RegisteredClient.androidApps` by a developer, the https redirect URIs no longer count as verified.
    /// - After a change by anyone, an added scope is not approved for requests without a user.
    ///
    /// - Parameters:
    ///   - former: The client before the change.
    ///   - byAdministrator: Whether an administrator made the change.
    ///   - unapproved: The setting for new clients, which applies to a client that loses its approval.
    package func settled(
        after former: RegisteredClient, byAdministrator: Bool, unapproved: NewClientApproval
    ) -> RegisteredClient {
        var client = self
        client.policy.machineScope = client.policy.machineScope.intersection(former.scope).intersection(scope)
        guard !byAdministrator else { return client }
        if basisOfTrust != former.basisOfTrust {
            if client.isApproved || client.approval == .open {
                client.approval = unapproved.approval(ofKind: client.source.kind)
            }
            client.policy.loseTrust()
        }
        let claims = { (client: RegisteredClient) in client.redirectURIs.filter(\.isHTTPS).map(\.rawValue).sorted() }
        if claims(client) != claims(former) || client.appleApps != former.appleApps
            || client.androidApps != former.androidApps
        {
            client.policy.isClaimedHTTPSVerified = false
        }
        return client
    }

    /// A copy of the client for comparison, with only the properties on which an administrator's trust depends.
    ///
    /// The policy, the decisions about the client, its testers, the revision and the time of the last change are reset,
    /// and lists are sorted. Everything else is compared, including properties that are added to the type later.
    var basisOfTrust: RegisteredClient {
        var basis = self
        basis.policy = .standard(for: type)
        basis.approval = .open
        basis.testers = []
        basis.suspension = nil
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
    /// Removes the trust of an administrator.
    ///
    /// Users are asked for consent and warned of an unverified publisher again. No scope is approved for requests
    /// without a user.
    mutating func loseTrust() {
        isFirstParty = false
        isVouchedFor = false
        machineScope = Scope()
    }
}

extension PolicyDraft {
    package static let exemptionPrefix = "exempt-until:"

    /// Returns the unchecked date after `exempt-until:` in an entered PKCE policy; nil for any other policy.
    package static func exemption(in policy: String) -> String? {
        policy.hasPrefix(exemptionPrefix) ? String(policy.dropFirst(exemptionPrefix.count)) : nil
    }
}
