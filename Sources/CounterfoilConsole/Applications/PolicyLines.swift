import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTokens
import Foundation

package enum ApplicationPagePhrase: String, LocalizationKey {
    case registeredByOperator = "applications.registered-by-operator"
    case registeredBy = "applications.registered-by"
    case loopback = "applications.kind.loopback"
    case privateUseScheme = "applications.kind.private-use-scheme"
    case claimedHTTPS = "applications.kind.claimed-https"
    case https = "applications.kind.https"
    case privacy = "applications.form.privacy"
    case terms = "applications.form.terms"
    case firstParty = "policy.first-party"
    case vouchedFor = "policy.vouched-for"
    case claimedHTTPSVerified = "policy.claimed-https-verified"
    case pkce = "policy.pkce"
    case requireState = "policy.require-state"
    case refreshTokens = "policy.refresh-tokens"
    case refreshRotation = "policy.refresh-rotation"
    case refreshGracePeriod = "policy.refresh-grace-period"
    case refreshIdleLifetime = "policy.refresh-idle-lifetime"
    case refreshLifetime = "policy.refresh-lifetime"
    /// The default of the client type; placeholder `value`.
    case asUsual = "policy.as-usual"
    case accessTokenLifetime = "policy.access-token-lifetime"
    case idTokenLifetime = "policy.id-token-lifetime"
    case webViews = "policy.web-views"
    case idTokenAlgorithm = "policy.id-token-algorithm"
    case subjectType = "policy.subject-type"
    case machineScope = "policy.machine-scope"
    case noMachineScope = "policy.machine-scope-none"
    /// Scopes without approval by an administrator; placeholder `scopes`.
    case machineScopePending = "applications.machine-scope-pending"
    case subjectPublic = "policy.subject-type.public"
    case subjectPairwise = "policy.subject-type.pairwise"
    case yes = "policy.yes"
    case no = "policy.no"
    case seconds = "policy.seconds"
    case asServer = "policy.as-server"
    case s256 = "policy.pkce.s256"
    case s256OrPlain = "policy.pkce.s256-or-plain"
    case exemptUntil = "policy.pkce.exempt-until"
    /// Exempt until a day that another field contains.
    case exemptUntilDay = "policy.pkce.exempt-until-day"
    case noPicture = "applications.no-picture"
    case pictureExpired = "applications.picture-expired"
    case refreshOfflineAccess = "policy.refresh-tokens.offline-access"
    case refreshAlways = "policy.refresh-tokens.always"
    case refreshNever = "policy.refresh-tokens.never"
    case webViewsBlock = "policy.web-views.block"
    case webViewsWarn = "policy.web-views.warn"
    case webViewsAllow = "policy.web-views.allow"
}

package enum PKCEPhrase: String, LocalizationKey {
    case plainDanger = "applications.pkce.plain-danger"
    case exemptDanger = "applications.pkce.exempt-danger"
    case plainNeverUsed = "applications.pkce.plain-never-used"
    case used = "applications.pkce.used"
    case neverUsed = "applications.pkce.never-used"
    case usedBefore = "applications.pkce.used-before"
    case challengeReused = "applications.pkce.challenge-reused"
}

extension RedirectURI.Kind {
    /// Returns the name of the kind for a client type.
    func phrase(of type: ClientType) -> ApplicationPagePhrase {
        switch self {
        case .loopback: .loopback
        case .privateUseScheme: .privateUseScheme
        case .https: type == .native ? .claimedHTTPS : .https
        }
    }
}

extension ApplicationOverview {
    /// Returns the policy of a client in words.
    func policy(of client: RegisteredClient, words: Localizer) -> [ApplicationPage.PolicyLine] {
        let (policy, type) = (client.policy, client.type)
        func line(_ name: ApplicationPagePhrase, _ value: String) -> ApplicationPage.PolicyLine {
            ApplicationPage.PolicyLine(words(name), value)
        }
        func yes(_ flag: Bool) -> String { words(ApplicationPagePhrase(flag)) }
        func seconds(_ own: Int?, _ servers: Int) -> String {
            words(
                LocalizedText(
                    own == nil ? ApplicationPagePhrase.asServer : .seconds,
                    ["seconds": .number(own ?? servers)]))
        }
        var lines = [line(.vouchedFor, yes(policy.isVouchedFor))]
        guard type != .service else {
            let approved = client.approvedMachineScope
            return lines + [
                line(
                    .machineScope,
                    approved.isEmpty ? words(ApplicationPagePhrase.noMachineScope) : approved.description),
                line(
                    .accessTokenLifetime, seconds(policy.accessTokenLifetime, console.settings.accessTokenLifetime)),
            ]
        }
        lines.append(line(.firstParty, yes(policy.isFirstParty)))
        if type == .native { lines.append(line(.claimedHTTPSVerified, yes(policy.isClaimedHTTPSVerified))) }
        lines += [
            line(.pkce, words(policy.pkce.text)),
            line(.requireState, yes(policy.requiresState)),
            line(.refreshTokens, words(policy.refreshTokens.phrase)),
        ]
        if client.getsRefreshTokens { lines += refreshing(client, words: words) }
        lines += [
            line(.accessTokenLifetime, seconds(policy.accessTokenLifetime, console.settings.accessTokenLifetime)),
            line(.idTokenLifetime, seconds(policy.idTokenLifetime, console.settings.idTokenLifetime)),
            line(.webViews, words(policy.webViews.phrase)),
            line(.idTokenAlgorithm, policy.idTokenAlgorithm.rawValue),
            line(.subjectType, words(policy.subjectType.phrase)),
        ]
        return lines
    }

    private func refreshing(_ client: RegisteredClient, words: Localizer) -> [ApplicationPage.PolicyLine] {
        let terms = RefreshTokenTerms(of: client, settings: console.settings)
        let life = client.policy.refreshTokenLife
        func line(_ name: ApplicationPagePhrase, _ value: LocalizedText, isOwn: Bool) -> ApplicationPage.PolicyLine {
            ApplicationPage.PolicyLine(words(name), words(isOwn ? value : .asUsual(value)))
        }
        func time(_ name: ApplicationPagePhrase, _ time: TimeInterval, isOwn: Bool) -> ApplicationPage.PolicyLine {
            line(name, .exactly(seconds: Int(time)), isOwn: isOwn)
        }
        var lines = [
            line(.refreshRotation, LocalizedText(ApplicationPagePhrase(terms.rotates)), isOwn: life.rotates != nil)
        ]
        if terms.rotates { lines.append(time(.refreshGracePeriod, terms.gracePeriod, isOwn: life.gracePeriod != nil)) }
        return lines + [
            time(.refreshIdleLifetime, terms.idleLifetime, isOwn: life.idleLifetime != nil),
            time(.refreshLifetime, terms.lifetime, isOwn: life.lifetime != nil),
        ]
    }
}

extension ApplicationPagePhrase {
    init(_ answer: Bool) { self = answer ? .yes : .no }
}

extension LocalizedText {
    /// Marks a value as the default of the client type.
    static func asUsual(_ value: LocalizedText) -> LocalizedText {
        LocalizedText(ApplicationPagePhrase.asUsual, ["value": .phrase(value)])
    }

    /// Formats seconds in the largest unit that is exact.
    static func exactly(seconds: Int) -> LocalizedText {
        let unit = seconds < 120 ? 1 : seconds < 7200 && seconds != 3600 ? 60 : seconds < 172_800 ? 3600 : 86_400
        return seconds.isMultiple(of: unit)
            ? .duration(seconds: seconds) : LocalizedText(ApplicationPagePhrase.seconds, ["seconds": .number(seconds)])
    }
}

extension PKCEPolicy {
    var text: LocalizedText {
        switch self {
        case .s256: LocalizedText(ApplicationPagePhrase.s256)
        case .s256OrPlain: LocalizedText(ApplicationPagePhrase.s256OrPlain)
        case .exemptUntil(let day): LocalizedText(ApplicationPagePhrase.exemptUntil, ["day": .text(day.description)])
        }
    }
}

extension RefreshTokenPolicy {
    var phrase: ApplicationPagePhrase {
        switch self {
        case .offlineAccess: .refreshOfflineAccess
        case .always: .refreshAlways
        case .never: .refreshNever
        }
    }
}

extension WebViewPolicy {
    var phrase: ApplicationPagePhrase {
        switch self {
        case .block: .webViewsBlock
        case .warn: .webViewsWarn
        case .allow: .webViewsAllow
        }
    }
}

extension SubjectType {
    var phrase: ApplicationPagePhrase {
        switch self {
        case .public: .subjectPublic
        case .pairwise: .subjectPairwise
        }
    }
}
