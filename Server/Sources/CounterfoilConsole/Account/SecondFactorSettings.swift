@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/account/second-factor`: the setup of a second factor, its security keys, and its changes, each with a code.
///
/// A user without an authenticator app proves the second factor once, with a security key or a recovery code, and then
/// makes changes for some minutes.
struct SecondFactorSettings: Sendable {
    let console: Console
    let factors: SecondFactors

    /// The values of the form field `decision`.
    private enum Decision: String {
        case setUp = "set-up"
        case setUpKey = "set-up-key"
        case confirm, replace, remove
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
        /// The proof of the second factor, which the next forms carry; nil for that of the form.
        var proof: String?
    }

    /// The verdict on the proof that comes with a change.
    private enum Verdict {
        case proved(SecondFactorUse, of: SecondFactor)
        /// The page is shown again.
        case refused(Reply)
    }

    private static let currentField = "current"
    private static let codeField = "code"
    private static let proofField = "proof"
    static let keyField = "passkey"

    func show(_ exchange: Console.Exchange) async throws -> Reply { try await page(exchange, Answer()) }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        let secret = factors.secret(on: try form.value("setup"), of: exchange.user, now: exchange.now)
        let code = try form.value(Self.codeField)
        let decision = Decision(rawValue: try form.value("decision"))
        let isOff = console.settings.secondFactor == .off
        switch decision {
        case .setUp where isOff, .setUpKey where isOff: throw NotFoundError()
        case .setUp:
            guard let secret, let setup = try factors.confirm(secret, by: code, of: exchange.user, now: exchange.now)
            else { return try await again(exchange, CodeMessage.unconfirmed, at: Self.codeField, keeping: secret) }
            return try await setUp(setup, exchange)
        case .setUpKey:
            guard let key = try await newKey(form, exchange) else {
                return try await again(exchange, SecondFactorProblem.keyRefused, at: nil)
            }
            return try await setUp(try factors.setup(key, of: exchange.user, now: exchange.now), exchange)
        case .confirm: return try await confirm(form, exchange)
        case .remove where console.settings.secondFactor.isRequired(of: exchange.user):
            return try await again(exchange, SecondFactorProblem.required, at: Self.currentField)
        case .renameKey: return try await rename(form, exchange)
        case .replace, .recoveryCodes, .remove, .addKey, .removeKey:
            return try await change(decision, form, secret, by: code, exchange)
        case nil: throw PageProblem.noDecision
        }
    }

    private func setUp(_ setup: SecondFactors.Setup, _ exchange: Console.Exchange) async throws -> Reply {
        let event = try await console.event(of: .secondFactorSetUp, by: exchange)
        let outcome = try await factors.store.addSecondFactor(
            setup.factor, recoveryCodes: setup.digests, key: setup.key, keeping: exchange.session.digest,
            recording: [event])
        switch outcome {
        case .added:
            console.auditor.countRecorded(event)
            return try await page(exchange, Answer(codes: setup.recoveryCodes, notice: .othersEnded))
        case .exists:
            return try await again(
                exchange, SecondFactorProblem.exists, at: setup.key == nil ? Self.codeField : nil)
        case .keyExists: return try await again(exchange, SecondFactorProblem.keyExists, at: nil)
        case .userNotActive: throw Console.SignInNeeded(path: exchange.path)
        }
    }

    /// Records the proof of the second factor, and shows the page with the forms that it allows.
    private func confirm(_ form: PageForm, _ exchange: Console.Exchange) async throws -> Reply {
        let key = try form.value(Self.keyField)
        let answer: SecondFactorAnswer =
            key.isEmpty
            ? SecondFactorAnswer(typed: try form.value(Self.currentField))
            : .key(key, ticket: try form.value("ticket"))
        let (use, factor): (SecondFactorUse, SecondFactor)
        switch try await verify(answer, exchange) {
        case .refused(let reply): return reply
        case .proved(let proved, let present): (use, factor) = (proved, present)
        }
        var events: [AuditEvent] = []
        if case .recoveryCode = use { events.append(try await console.event(of: .recoveryCodeUsed, by: exchange)) }
        let outcome = try await factors.store.changeSecondFactor(
            of: exchange.user.id, to: .confirmation, proving: use, recording: events)
        switch outcome {
        case .changed:
            console.auditor.countRecorded(events)
            let proof = try factors.seal(proofOf: factor.digest, in: exchange.session, now: exchange.now)
            return try await page(exchange, Answer(proof: proof))
        case .proofOutdated, .keyExists, .tooManyKeys, .keyNotFound, .lastKey:
            return try await again(
                exchange, key.isEmpty ? CodeMessage.used : .wrongKey, at: key.isEmpty ? Self.currentField : nil)
        case .userNotActive: throw Console.SignInNeeded(path: exchange.path)
        }
    }

    /// Verifies the proof of the second factor in a form: one that was recorded before, or a code.
    private func verdict(
        on form: PageForm, _ exchange: Console.Exchange, keeping secret: AuthenticatorSecret?
    ) async throws -> Verdict {
        let proof = try form.value(Self.proofField)
        if let use = factors.use(provedBy: proof, in: exchange.session, now: exchange.now),
            case .active(let factor, _) = try await factors.store.secondFactor(of: exchange.user.id)
        {
            return .proved(use, of: factor)
        }
        return try await verify(
            SecondFactorAnswer(typed: try form.value(Self.currentField)), exchange, keeping: secret)
    }

    private func verify(
        _ answer: SecondFactorAnswer, _ exchange: Console.Exchange, keeping secret: AuthenticatorSecret? = nil
    ) async throws -> Verdict {
        switch try await factors.verify(answer, of: exchange.user, in: exchange.request, now: exchange.now) {
        case .refused(let cause, let message):
            await console.refuse(.secondFactor, because: cause, exchange)
            let field: String? = if case .key = answer { nil } else { Self.currentField }
            return .refused(try await again(exchange, message, at: field, keeping: secret))
        case .tooEarly(let seconds, let cause):
            await console.refuse(.throttled, because: cause, exchange, for: "second factor")
            return .refused(try await wait(exchange, seconds: seconds))
        case .proved(let use, let factor, _): return .proved(use, of: factor)
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
        let (use, factor): (SecondFactorUse, SecondFactor)
        switch try await verdict(on: form, exchange, keeping: secret) {
        case .refused(let reply): return reply
        case .proved(let proved, let present): (use, factor) = (proved, present)
        }
        if let key {
            return try await make(.keyAddition(key), recording: .securityKeyAdded, by: use, showing: [], exchange)
        }
        if decision == .removeKey {
            guard let digest = Self.digest(try form.value(Self.keyField)) else {
                return .done(AccountNotice.keyGone, at: console.path(.secondFactor))
            }
            return try await make(.keyRemoval(digest), recording: .securityKeyRemoved, by: use, showing: [], exchange)
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
                case .confirmation, .recoveryCodes: nil
                }
            guard codes.isEmpty, let notice else {
                return try await page(exchange, Answer(codes: codes, notice: notice))
            }
            return .done(notice, at: console.path(.secondFactor))
        case .keyExists: return try await again(exchange, SecondFactorProblem.keyExists, at: nil)
        case .tooManyKeys: return try await again(exchange, SecondFactorProblem.tooManyKeys, at: nil)
        case .keyNotFound: return .done(AccountNotice.keyGone, at: console.path(.secondFactor))
        case .lastKey: return try await again(exchange, SecondFactorProblem.lastKey, at: nil)
        case .proofOutdated: return try await again(exchange, CodeMessage.used, at: Self.currentField)
        case .userNotActive: throw Console.SignInNeeded(path: exchange.path)
        }
    }

    // MARK: - The page

    func again(
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

    /// Returns the proof that the forms of the page carry; nil if the user has not proved the second factor here.
    private func proof(_ exchange: Console.Exchange, _ answer: Answer) -> String? {
        if let proof = answer.proof { return proof }
        guard exchange.request.head.method == .post,
            let form = try? PageForm(exchange.request, issuer: console.settings.issuer),
            let proof = try? form.value(Self.proofField),
            factors.use(provedBy: proof, in: exchange.session, now: exchange.now) != nil
        else { return nil }
        return proof
    }

    private func page(_ exchange: Console.Exchange, _ answer: Answer) async throws -> Reply {
        let (user, policy, action) = (exchange.user, console.settings.secondFactor, console.path(.secondFactor))
        let state = try await factors.store.secondFactor(of: user.id)
        let ticket = console.ticket(exchange, for: action)
        let proof = proof(exchange, answer)
        var active: SecondFactorPage.Active?
        if case .active(let factor, let left) = state {
            active = SecondFactorPage.Active(
                since: exchange.words.date(factor.createdAt), codesLeft: left, isRequired: policy.isRequired(of: user),
                hasApp: factor.hasApp, isOpen: factor.hasApp || proof != nil)
        }
        let isOffered = state != .lost && (active != nil || policy != .off) && answer.codes.isEmpty
        let secret = answer.secret ?? factors.newSecret()
        let keys = active == nil ? [] : try await factors.store.securityKeys(of: user.id)
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
            keyOffer: active == nil && !isOffered
                ? nil : try await keyOffer(beside: keys, ticket: ticket, exchange),
            confirmation: active?.isOpen == false ? try await confirmation(answering: ticket, exchange) : nil,
            proof: active?.hasApp == false ? proof : nil,
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
enum SecondFactorProblem: String, LocalizationKey {
    case exists = "account.second-factor.exists"
    case required = "account.second-factor.required"
    case keyRefused = "account.second-factor.key-refused"
    case keyExists = "account.second-factor.key-exists"
    case tooManyKeys = "account.second-factor.too-many-keys"
    case lastKey = "account.second-factor.last-key"
    case nameMissing = "account.passkeys.name-missing"
}
