import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTokens
import Foundation

/// What the pages of applications say of policies and addresses.
package enum ApplicationPagePhrase: String, Phrase {
    /// Registered by the owner of the server.
    case registeredByOperator = "applications.registered-by-operator"
    /// Registered by somebody.
    case registeredBy = "applications.registered-by"
    /// A redirect URI on the device itself.
    case loopback = "applications.kind.loopback"
    /// A scheme of the application.
    case privateUseScheme = "applications.kind.private-use-scheme"
    /// An https address that a native application claims.
    case claimedHTTPS = "applications.kind.claimed-https"
    /// An https address of a website.
    case https = "applications.kind.https"
    /// The privacy policy.
    case privacy = "applications.form.privacy"
    /// The terms.
    case terms = "applications.form.terms"
    /// First-party.
    case firstParty = "policy.first-party"
    /// Vouched for.
    case vouchedFor = "policy.vouched-for"
    /// Claimed https verified.
    case claimedHTTPSVerified = "policy.claimed-https-verified"
    /// PKCE.
    case pkce = "policy.pkce"
    /// `state`.
    case requireState = "policy.require-state"
    /// Refresh tokens.
    case refreshTokens = "policy.refresh-tokens"
    /// Whether refresh tokens are replaced.
    case refreshRotation = "policy.refresh-rotation"
    /// How long a lost answer is repeated.
    case refreshGracePeriod = "policy.refresh-grace-period"
    /// How long refresh tokens outlive their last use.
    case refreshIdleLifetime = "policy.refresh-idle-lifetime"
    /// How long refresh tokens live.
    case refreshLifetime = "policy.refresh-lifetime"
    /// What is usual for the type; place `value`.
    case asUsual = "policy.as-usual"
    /// Access tokens.
    case accessTokenLifetime = "policy.access-token-lifetime"
    /// ID tokens.
    case idTokenLifetime = "policy.id-token-lifetime"
    /// Web-views.
    case webViews = "policy.web-views"
    /// What signs ID tokens.
    case idTokenAlgorithm = "policy.id-token-algorithm"
    /// Under which name it knows a person.
    case subjectType = "policy.subject-type"
    /// Scopes for requests without a user.
    case machineScope = "policy.machine-scope"
    /// No such scope.
    case noMachineScope = "policy.machine-scope-none"
    /// Scopes that an administrator has not approved; place `scopes`.
    case machineScopePending = "applications.machine-scope-pending"
    /// The same everywhere.
    case subjectPublic = "policy.subject-type.public"
    /// One of its own.
    case subjectPairwise = "policy.subject-type.pairwise"
    /// Yes.
    case yes = "policy.yes"
    /// No.
    case no = "policy.no"
    /// A number of seconds.
    case seconds = "policy.seconds"
    /// What the server has set.
    case asServer = "policy.as-server"
    /// S256 alone.
    case s256 = "policy.pkce.s256"
    /// S256 or plain.
    case s256OrPlain = "policy.pkce.s256-or-plain"
    /// Exempt until a day.
    case exemptUntil = "policy.pkce.exempt-until"
    /// Exempt until a day that is given beside it.
    case exemptUntilDay = "policy.pkce.exempt-until-day"
    /// No picture was sent.
    case noPicture = "applications.no-picture"
    /// The page of the picture was open for too long.
    case pictureExpired = "applications.picture-expired"
    /// With offline_access.
    case refreshOfflineAccess = "policy.refresh-tokens.offline-access"
    /// Always.
    case refreshAlways = "policy.refresh-tokens.always"
    /// Never.
    case refreshNever = "policy.refresh-tokens.never"
    /// Block.
    case webViewsBlock = "policy.web-views.block"
    /// Warn.
    case webViewsWarn = "policy.web-views.warn"
    /// Allow.
    case webViewsAllow = "policy.web-views.allow"
}

/// What the page of an application says of what keeps PKCE from protecting its people.
package enum PKCEPhrase: String, Phrase {
    /// `plain` is taken.
    case plainDanger = "applications.pkce.plain-danger"
    /// Nothing is needed until a day.
    case exemptDanger = "applications.pkce.exempt-danger"
    /// `plain` is taken, and nobody needed it.
    case plainNeverUsed = "applications.pkce.plain-never-used"
    /// How often the exception was used.
    case used = "applications.pkce.used"
    /// It never was.
    case neverUsed = "applications.pkce.never-used"
    /// There was one, and it was used.
    case usedBefore = "applications.pkce.used-before"
    /// One challenge served more than one request.
    case challengeReused = "applications.pkce.challenge-reused"
}

extension RedirectURI.Kind {
    /// What it is called for an application of a type.
    func phrase(of type: ClientType) -> ApplicationPagePhrase {
        switch self {
        case .loopback: .loopback
        case .privateUseScheme: .privateUseScheme
        case .https: type == .native ? .claimedHTTPS : .https
        }
    }
}

extension ApplicationOverview {
    /// The policy of an application in words.
    func policy(of client: RegisteredClient, words: Words) -> [ApplicationPage.PolicyLine] {
        let (policy, type) = (client.policy, client.type)
        func line(_ name: ApplicationPagePhrase, _ value: String) -> ApplicationPage.PolicyLine {
            ApplicationPage.PolicyLine(words(name), value)
        }
        func yes(_ flag: Bool) -> String { words(ApplicationPagePhrase(flag)) }
        func seconds(_ own: Int?, _ servers: Int) -> String {
            words(
                Text(
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

    private func refreshing(_ client: RegisteredClient, words: Words) -> [ApplicationPage.PolicyLine] {
        let terms = RefreshTokenTerms(of: client, settings: console.settings)
        let life = client.policy.refreshTokenLife
        func line(_ name: ApplicationPagePhrase, _ value: Text, isOwn: Bool) -> ApplicationPage.PolicyLine {
            ApplicationPage.PolicyLine(words(name), words(isOwn ? value : .asUsual(value)))
        }
        func time(_ name: ApplicationPagePhrase, _ time: TimeInterval, isOwn: Bool) -> ApplicationPage.PolicyLine {
            line(name, .exactly(seconds: Int(time)), isOwn: isOwn)
        }
        var lines = [
            line(.refreshRotation, Text(ApplicationPagePhrase(terms.rotates)), isOwn: life.rotates != nil)
        ]
        if terms.rotates { lines.append(time(.refreshGracePeriod, terms.gracePeriod, isOwn: life.gracePeriod != nil)) }
        return lines + [
            time(.refreshIdleLifetime, terms.idleLifetime, isOwn: life.idleLifetime != nil),
            time(.refreshLifetime, terms.lifetime, isOwn: life.lifetime != nil),
        ]
    }
}

extension ApplicationPagePhrase {
    /// Yes or no.
    init(_ answer: Bool) { self = answer ? .yes : .no }
}

extension Text {
    /// What follows from the type of an application, as nobody has decided anything else.
    static func asUsual(_ value: Text) -> Text { Text(ApplicationPagePhrase.asUsual, ["value": .phrase(value)]) }

    /// A time as a person says it, where that leaves nothing out, and in seconds otherwise.
    static func exactly(seconds: Int) -> Text {
        let unit = seconds < 120 ? 1 : seconds < 7200 && seconds != 3600 ? 60 : seconds < 172_800 ? 3600 : 86_400
        return seconds.isMultiple(of: unit)
            ? .duration(seconds: seconds) : Text(ApplicationPagePhrase.seconds, ["seconds": .number(seconds)])
    }
}

extension PKCEPolicy {
    /// What it means.
    var text: Text {
        switch self {
        case .s256: Text(ApplicationPagePhrase.s256)
        case .s256OrPlain: Text(ApplicationPagePhrase.s256OrPlain)
        case .exemptUntil(let day): Text(ApplicationPagePhrase.exemptUntil, ["day": .text(day.description)])
        }
    }
}

extension RefreshTokenPolicy {
    /// What it means.
    var phrase: ApplicationPagePhrase {
        switch self {
        case .offlineAccess: .refreshOfflineAccess
        case .always: .refreshAlways
        case .never: .refreshNever
        }
    }
}

extension WebViewPolicy {
    /// What it means.
    var phrase: ApplicationPagePhrase {
        switch self {
        case .block: .webViewsBlock
        case .warn: .webViewsWarn
        case .allow: .webViewsAllow
        }
    }
}

extension SubjectType {
    /// What it means.
    var phrase: ApplicationPagePhrase {
        switch self {
        case .public: .subjectPublic
        case .pairwise: .subjectPairwise
        }
    }
}
