import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/account/second-factor`: the setup of a second factor, and its changes, each with a code.
struct SecondFactorSettings: Sendable {
    let console: Console
    let factors: SecondFactors

    /// The values of the form field `decision`.
    private enum Decision: String {
        case setUp = "set-up"
        case replace, remove
        case recoveryCodes = "recovery-codes"
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
        case .replace, .recoveryCodes, .remove:
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
        let current = try form.value(Self.currentField)
        switch try await factors.verify(current, of: user, in: exchange.request, now: now) {
        case .refused(let cause, let message):
            await console.refuse(.secondFactor, because: cause, exchange)
            return try await again(exchange, message, at: Self.currentField, keeping: secret)
        case .tooEarly(let seconds, let cause):
            await console.refuse(.throttled, because: cause, exchange, for: "second factor")
            return try await wait(exchange, seconds: seconds)
        case .proved(let use, let factor):
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
            guard change != .removal else {
                return .done(AccountNotice.secondFactorOff, at: console.path(.secondFactor))
            }
            let notice: AccountNotice? = if case .replacement = change { .othersEnded } else { nil }
            return try await page(exchange, Answer(codes: codes, notice: notice))
        case .proofOutdated: return try await again(exchange, CodeMessage.used, at: Self.currentField)
        case .userNotActive: throw Console.SignInNeeded(path: exchange.path)
        }
    }

    private func again(
        _ exchange: Console.Exchange, _ problem: some Localized, at field: String,
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
            codes: answer.codes.map(\.exposed),
            action: action,
            ticket: console.ticket(exchange, for: action),
            isOff: state == .none && policy == .off,
            hasNewCodes: !answer.codes.isEmpty)
        return Reply(answer.status, .page(page))
    }
}

/// The errors on the page of the second factor, except those about a code (see `CodeMessage`).
private enum SecondFactorProblem: String, LocalizationKey {
    case exists = "account.second-factor.exists"
    case required = "account.second-factor.required"
}
