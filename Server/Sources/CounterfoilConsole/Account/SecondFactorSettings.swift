@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/account/second-factor`: the setup of a second factor, its security keys, and its changes, each with a code.
struct SecondFactorSettings: Sendable {
    let console: Console
    let factors: SecondFactors

    /// The values of the form field `decision`.
    private enum Decision: String {
        case setUp = "set-up"
        case replace, remove
        case recoveryCodes = "recovery-codes"
        case addKey = "add-key"
        case renameKey = "rename-key"
        case removeKey = "remove-key"
    }

    /// The parts of the page that depend on a form.
    private struct Answer {
        var problem: FormProblem?
        var status = HTTPResponse.Status.ok
        /// The secret of the form, which stays on the page that is shown again.
        var secret: AuthenticatorSecret?
        var codes: [RecoveryCode] = []
        var notice: AccountNotice?
    }

    private static let currentField = "current"
    private static let codeField = "code"
    private static let keyField = "passkey"

    func show(_ exchange: Console.Exchange) async throws -> Reply { try await page(exchange, Answer()) }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        let secret = factors.secret(on: try form.value("setup"), of: exchange.user, now: exchange.now)
        let code = try form.value(Self.codeField)
        let decision = Decision(rawValue: try form.value("decision"))
        switch decision {
        case .setUp: return try await setUp(secret, by: code, exchange)
        case .remove where console.settings.secondFactor.isRequired(of: exchange.user):
            return try await again(exchange, SecondFactorProblem.required, at: Self.currentField)
        case .renameKey: return try await rename(form, exchange)
        case .replace, .recoveryCodes, .remove, .addKey, .removeKey:
            return try await change(decision, form, secret, by: code, exchange)
        case nil: throw PageProblem.noDecision
        }
    }

    private func setUp(
        _ secret: AuthenticatorSecret?, by code: String, _ exchange: Console.Exchange
    ) async throws -> Reply {
        guard console.settings.secondFactor != .off else { throw NotFoundError() }
        guard let secret, let setup = try factors.confirm(secret, by: code, of: exchange.user, now: exchange.now) else {
            return try await again(exchange, CodeMessage.unconfirmed, at: Self.codeField, keeping: secret)
        }
        let event = try await console.event(of: .secondFactorSetUp, by: exchange)
        let outcome = try await factors.store.addSecondFactor(
            setup.factor, recoveryCodes: setup.digests, keeping: exchange.session.digest, recording: [event])
        switch outcome {
        case .added:
            console.auditor.countRecorded(event)
            return try await page(exchange, Answer(codes: setup.recoveryCodes, notice: .othersEnded))
        case .exists: return try await again(exchange, SecondFactorProblem.exists, at: Self.codeField)
        case .userNotActive: throw Console.SignInNeeded(path: exchange.path)
        }
    }

    private func change(
        _ decision: Decision?, _ form: PageForm, _ secret: AuthenticatorSecret?, by code: String,
        _ exchange: Console.Exchange
    ) async throws -> Reply {
        let (user, now) = (exchange.user, exchange.now)
        var setup: SecondFactors.Setup?
        if decision == .replace {
            setup = try secret.flatMap { try factors.confirm($0, by: code, of: user, now: now) }
            guard setup != nil else {
                return try await again(exchange, CodeMessage.unconfirmed, at: Self.codeField, keeping: secret)
            }
        }
        var key: Passkey?
        if decision == .addKey {
            key = try await newKey(form, exchange)
            guard key != nil else { return try await again(exchange, SecondFactorProblem.keyRefused, at: nil) }
        }
        let current = SecondFactorAnswer(typed: try form.value(Self.currentField))
        switch try await factors.verify(current, of: user, in: exchange.request, now: now) {
        case .refused(let cause, let message):
            await console.refuse(.secondFactor, because: cause, exchange)
            return try await again(exchange, message, at: Self.currentField, keeping: secret)
        case .tooEarly(let seconds, let cause):
            await console.refuse(.throttled, because: cause, exchange, for: "second factor")
            return try await wait(exchange, seconds: seconds)
        case .proved(let use, let factor, _):
            if let key {
                return try await make(.keyAddition(key), recording: .securityKeyAdded, by: use, showing: [], exchange)
            }
            if decision == .removeKey {
                guard let digest = Self.digest(try form.value(Self.keyField)) else {
                    return .done(AccountNotice.keyGone, at: console.path(.secondFactor))
                }
                return try await make(
                    .keyRemoval(digest), recording: .securityKeyRemoved, by: use, showing: [], exchange)
            }
            if let setup {
                let change = SecondFactorChange.replacement(
                    setup.factor, recoveryCodes: setup.digests, keeping: exchange.session.digest)
                return try await make(
                    change, recording: .secondFactorReplaced, by: use, showing: setup.recoveryCodes, exchange)
            }
            guard decision == .recoveryCodes else {
                return try await make(.removal, recording: .secondFactorRemoved, by: use, showing: [], exchange)
            }
            guard let others = factors.otherRecoveryCodes(of: factor) else {
                return try await again(exchange, CodeMessage.unavailable, at: Self.currentField)
            }
            return try await make(
                .recoveryCodes(others.digests), recording: .recoveryCodesReplaced, by: use, showing: others.codes,
                exchange)
        }
    }

    private func make(
        _ change: SecondFactorChange, recording recorded: AccountChange, by use: SecondFactorUse,
        showing codes: [RecoveryCode], _ exchange: Console.Exchange
    ) async throws -> Reply {
        let event = try await console.event(of: recorded, by: exchange)
        let outcome = try await factors.store.changeSecondFactor(
            of: exchange.user.id, to: change, proving: use, recording: [event])
        switch outcome {
        case .changed:
            console.auditor.countRecorded(event)
            let notice: AccountNotice? =
                switch change {
                case .removal: .secondFactorOff
                case .keyAddition: .keyAdded
                case .keyRemoval: .keyRemoved
                case .replacement: .othersEnded
                case .recoveryCodes: nil
                }
            guard codes.isEmpty, let notice else {
                return try await page(exchange, Answer(codes: codes, notice: notice))
            }
            return .done(notice, at: console.path(.secondFactor))
        case .keyExists: return try await again(exchange, SecondFactorProblem.keyExists, at: nil)
        case .tooManyKeys: return try await again(exchange, SecondFactorProblem.tooManyKeys, at: nil)
        case .keyNotFound: return .done(AccountNotice.keyGone, at: console.path(.secondFactor))
        case .proofOutdated: return try await again(exchange, CodeMessage.used, at: Self.currentField)
        case .userNotActive: throw Console.SignInNeeded(path: exchange.path)
        }
    }

    // MARK: - Security keys

    /// Verifies the answer of the browser with a new security key; nil if it breaks a rule.
    private func newKey(_ form: PageForm, _ exchange: Console.Exchange) async throws -> Passkey? {
        guard let ceremonies = PasskeyCeremonies(console.settings.issuer) else { throw NotFoundError() }
        do {
            return try ceremonies.newPasskey(
                try form.value(Self.keyField), answering: try form.value("ticket"), isSecurityKey: true,
                of: exchange.user, naming: { $0 ?? exchange.words(SecondFactorLabel.key) }, now: exchange.now)
        } catch {
            await console.auditor.refuse(
                .secondFactor, because: .passkey, exchange.request, user: exchange.user.id, detail: "\(error)",
                now: exchange.now)
            return nil
        }
    }

    private func rename(_ form: PageForm, _ exchange: Console.Exchange) async throws -> Reply {
        let typed = try form.value("name")
        guard !typed.trimmingWhitespace().isEmpty else {
            return try await again(exchange, SecondFactorProblem.nameMissing, at: nil)
        }
        let event = console.event(.secondFactor, by: exchange, detail: "security key renamed")
        guard let digest = Self.digest(try form.value(Self.keyField)),
            try await console.store.renamePasskey(
                digest, of: exchange.user.id, to: DisplayName(typed).description, recording: [event])
        else { return .done(AccountNotice.keyGone, at: console.path(.secondFactor)) }
        console.auditor.countRecorded(event)
        return .done(AccountNotice.passkeyRenamed, at: console.path(.secondFactor))
    }

    private static func digest(_ id: String) -> ArtefactDigest? {
        Base64URL.decode(id).flatMap(ArtefactDigest.init(stored:))
    }

    /// Returns the offer of another security key; nil if the user can add none.
    private func keyOffer(beside keys: [Passkey], ticket: String, _ exchange: Console.Exchange) async throws
        -> PasskeyOffer?
    {
        guard let ceremonies = PasskeyCeremonies(console.settings.issuer), keys.count < Passkey.limitPerUser else {
            return nil
        }
        let branding = try await console.registry.fresh().branding()
        let site = Site(branding, settings: console.settings, language: exchange.request.language)
        let known = try await keys + console.store.passkeys(of: exchange.user.id)
        let options = ceremonies.securityKeyOptions(
            for: exchange.user, with: known, siteName: site.name.description, answering: ticket)
        return PasskeyOffer(options: options, action: console.path(.secondFactor), ticket: ticket)
    }

    private func row(_ key: Passkey, _ exchange: Console.Exchange) -> SecondFactorPage.Key {
        SecondFactorPage.Key(
            id: Base64URL.encode(key.digest.bytes), name: DisplayName(key.name),
            added: exchange.words.date(key.createdAt), lastUsed: exchange.words.lastUse(of: key, now: exchange.now))
    }

    // MARK: - The page

    private func again(
        _ exchange: Console.Exchange, _ problem: some Localized, at field: String?,
        keeping secret: AuthenticatorSecret? = nil
    ) async throws -> Reply {
        try await page(
            exchange,
            Answer(
                problem: FormProblem(exchange.words(problem), field: field), status: .badRequest, secret: secret))
    }

    private func wait(_ exchange: Console.Exchange, seconds: Int) async throws -> Reply {
        let words = exchange.words
        let text = words(CodeMessage.tooMany) + " " + words(.wait(seconds: seconds))
        var reply = try await page(
            exchange, Answer(problem: FormProblem(text, field: Self.currentField), status: .tooManyRequests))
        reply.fields[.retryAfter] = String(seconds)
        return reply
    }

    private func page(_ exchange: Console.Exchange, _ answer: Answer) async throws -> Reply {
        let (user, policy, action) = (exchange.user, console.settings.secondFactor, console.path(.secondFactor))
        let state = try await factors.store.secondFactor(of: user.id)
        var active: SecondFactorPage.Active?
        if case .active(let factor, let left) = state {
            active = SecondFactorPage.Active(
                since: exchange.words.date(factor.createdAt), codesLeft: left, isRequired: policy.isRequired(of: user))
        }
        let isOffered = state != .lost && (active != nil || policy != .off) && answer.codes.isEmpty
        let secret = answer.secret ?? factors.newSecret()
        let keys = active == nil ? [] : try await factors.store.securityKeys(of: user.id)
        let ticket = console.ticket(exchange, for: action)
        let keyOffer = active == nil ? nil : try await keyOffer(beside: keys, ticket: ticket, exchange)
        let page = SecondFactorPage(
            console: console.head(exchange, in: .account),
            notice: answer.notice.map { exchange.words($0) } ?? exchange.notice(AccountNotice.self),
            problems: [answer.problem].compactMap(\.self),
            paths: console.accountPaths(at: .secondFactor, exchange),
            active: active,
            isLost: state == .lost,
            offer: !isOffered
                ? nil
                : AuthenticatorOffer(
                    secret, issuer: console.settings.siteName, name: user.username.rawValue,
                    setup: try factors.seal(secret, for: user, now: exchange.now)),
            keys: keys.map { row($0, exchange) },
            keyOffer: keyOffer,
            nameLimit: Passkey.nameLimit,
            codes: answer.codes.map(\.exposed),
            action: action,
            ticket: ticket,
            isOff: state == .none && policy == .off,
            hasNewCodes: !answer.codes.isEmpty)
        return Reply(answer.status, .page(page))
    }
}

/// The errors on the page of the second factor, except those about a code (see `CodeMessage`).
private enum SecondFactorProblem: String, LocalizationKey {
    case exists = "account.second-factor.exists"
    case required = "account.second-factor.required"
    case keyRefused = "account.second-factor.key-refused"
    case keyExists = "account.second-factor.key-exists"
    case tooManyKeys = "account.second-factor.too-many-keys"
    case nameMissing = "account.passkeys.name-missing"
}

/// The name of a security key whose model is unknown.
private enum SecondFactorLabel: String, LocalizationKey {
    case key = "account.second-factor.key"
}
