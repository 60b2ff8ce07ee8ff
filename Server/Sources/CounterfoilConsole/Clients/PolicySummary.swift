import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation

/// The labels of the settings in the policy of a client, and of their values.
enum PolicyLabel: String, LocalizationKey {
    case firstParty = "policy.first-party"
    case vouchedFor = "policy.vouched-for"
    case claimedHTTPSVerified = "policy.claimed-https-verified"
    case httpsVerified = "policy.https-verified"
    case pkce = "policy.pkce"
    case requireState = "policy.require-state"
    case requirePushedRequests = "policy.require-pushed-requests"
    case requireBoundTokens = "policy.require-bound-tokens"
    case refreshTokens = "policy.refresh-tokens"
    case refreshRotation = "policy.refresh-rotation"
    case refreshGracePeriod = "policy.refresh-grace-period"
    case refreshIdleLifetime = "policy.refresh-idle-lifetime"
    case refreshLifetime = "policy.refresh-lifetime"
    case accessTokenLifetime = "policy.access-token-lifetime"
    case idTokenLifetime = "policy.id-token-lifetime"
    case webViews = "policy.web-views"
    case minimumAuthentication = "policy.minimum-authentication"
    case idTokenAlgorithm = "policy.id-token-algorithm"
    case userClaimsInIDToken = "policy.user-claims-in-id-token"
    case subjectType = "policy.subject-type"
    case machineScope = "policy.machine-scope"
    case noMachineScope = "policy.machine-scope-none"
    case yes = "policy.yes"
    case no = "policy.no"
    case seconds = "policy.seconds"
    case asServer = "policy.as-server"
    case s256 = "policy.pkce.s256"
    case s256OrNonce = "policy.pkce.s256-or-nonce"
    case s256OrPlain = "policy.pkce.s256-or-plain"
    case pkceOptional = "policy.pkce.optional"
    /// The label of the choice that exempts a client from PKCE until a day; the field beside it contains the day.
    case exemptUntilDay = "policy.pkce.exempt-until-day"
}

extension ClientOverview {
    /// Returns the settings that apply to the type of a client, with their values in words.
    func policy(of client: RegisteredClient, words: Localizer) -> [ClientPage.PolicySetting] {
        let (policy, type) = (client.policy, client.type)
        func line(_ name: PolicyLabel, _ value: String) -> ClientPage.PolicySetting {
            ClientPage.PolicySetting(words(name), value)
        }
        func yes(_ flag: Bool) -> String { words(PolicyLabel(flag)) }
        func seconds(_ own: Int?, _ servers: Int) -> String {
            words(
                LocalizedText(
                    own == nil ? PolicyLabel.asServer : .seconds,
                    ["seconds": .number(own ?? servers)]))
        }
        let boundTokens = line(.requireBoundTokens, yes(policy.requiresBoundTokens))
        var lines = [line(.vouchedFor, yes(policy.isVouchedFor))]
        guard type != .service else {
            let approved = client.approvedMachineScope
            return lines + [
                line(
                    .machineScope,
                    approved.isEmpty ? words(PolicyLabel.noMachineScope) : approved.description),
                boundTokens,
                line(
                    .accessTokenLifetime, seconds(policy.accessTokenLifetime, console.settings.accessTokenLifetime)),
            ]
        }
        lines.append(line(.firstParty, yes(policy.isFirstParty)))
        if type.canClaimHTTPS {
            let label = type == .native ? PolicyLabel.claimedHTTPSVerified : .httpsVerified
            lines.append(line(label, yes(policy.isClaimedHTTPSVerified)))
        }
        lines += [
            line(.pkce, words(policy.pkce.text)),
            line(.requireState, yes(policy.requiresState)),
            line(.requirePushedRequests, yes(policy.requiresPushedRequests)),
            boundTokens,
            line(.refreshTokens, words(policy.refreshTokens.label)),
        ]
        if client.getsRefreshTokens { lines += refreshing(client, words: words) }
        lines += [
            line(.accessTokenLifetime, seconds(policy.accessTokenLifetime, console.settings.accessTokenLifetime)),
            line(.idTokenLifetime, seconds(policy.idTokenLifetime, console.settings.idTokenLifetime)),
            line(.webViews, words(policy.webViews.label)),
            line(.minimumAuthentication, words(policy.minimumAuthentication.label)),
            line(.idTokenAlgorithm, policy.idTokenAlgorithm.rawValue),
            line(.userClaimsInIDToken, yes(policy.putsUserClaimsInIDToken)),
            line(.subjectType, words(policy.subjectType.label)),
        ]
        return lines
    }

    private func refreshing(_ client: RegisteredClient, words: Localizer) -> [ClientPage.PolicySetting] {
        let terms = RefreshTokenTerms(of: client, settings: console.settings)
        let life = client.policy.refreshTokenLife
        func line(_ name: PolicyLabel, _ value: LocalizedText, isOwn: Bool) -> ClientPage.PolicySetting {
            ClientPage.PolicySetting(words(name), words(isOwn ? value : .asUsual(value)))
        }
        func time(_ name: PolicyLabel, _ time: TimeInterval, isOwn: Bool) -> ClientPage.PolicySetting {
            line(name, .exactly(seconds: Int(time)), isOwn: isOwn)
        }
        var lines = [
            line(.refreshRotation, PolicyLabel(terms.rotates).text, isOwn: life.rotates != nil)
        ]
        if terms.rotates { lines.append(time(.refreshGracePeriod, terms.gracePeriod, isOwn: life.gracePeriod != nil)) }
        return lines + [
            time(.refreshIdleLifetime, terms.idleLifetime, isOwn: life.idleLifetime != nil),
            time(.refreshLifetime, terms.lifetime, isOwn: life.lifetime != nil),
        ]
    }
}

extension PolicyLabel {
    init(_ answer: Bool) { self = answer ? .yes : .no }
}

extension LocalizedText {
    /// Formats a value as the default of the client type.
    static func asUsual(_ value: LocalizedText) -> LocalizedText {
        LocalizedText("policy.as-usual", ["value": .nested(value)])
    }

    /// Formats a duration in minutes, hours or days if that is exact, and otherwise in seconds.
    static func exactly(seconds: Int) -> LocalizedText {
        let unit = seconds < 120 ? 1 : seconds < 7200 && seconds != 3600 ? 60 : seconds < 172_800 ? 3600 : 86_400
        return seconds.isMultiple(of: unit)
            ? .duration(seconds: seconds) : LocalizedText(PolicyLabel.seconds, ["seconds": .number(seconds)])
    }
}

extension PKCEPolicy {
    /// The policies that an administrator can choose for a client type, except the exemption until a day.
    static func offered(for type: ClientType) -> [PKCEPolicy] {
        safe(for: type) + [.s256OrPlain] + (type.isConfidential ? [.optional] : [])
    }

    var text: LocalizedText {
        switch self {
        case .s256: PolicyLabel.s256.text
        case .s256OrNonce: PolicyLabel.s256OrNonce.text
        case .s256OrPlain: PolicyLabel.s256OrPlain.text
        case .optional: PolicyLabel.pkceOptional.text
        case .exemptUntil(let day): LocalizedText("policy.pkce.exempt-until", ["day": .text(day.description)])
        }
    }
}

extension RefreshTokenPolicy {
    var label: LocalizedText { LocalizedText(key: "policy.refresh-tokens.\(rawValue)") }
}

extension WebViewPolicy {
    var label: LocalizedText { LocalizedText(key: "policy.web-views.\(rawValue)") }
}

extension AuthenticationContext {
    var label: LocalizedText { LocalizedText(key: "policy.minimum-authentication.\(rawValue)") }
}

extension SubjectType {
    var label: LocalizedText { LocalizedText(key: "policy.subject-type.\(rawValue)") }
}
