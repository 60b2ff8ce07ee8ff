import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// `/account/password`: the change of a password by a user who knows the current one.
struct PasswordChange: Sendable {
    let console: Console
    let hasher: PasswordHasher
    let users: SignIn

    func show(_ exchange: Console.Exchange) -> Reply { Reply(.ok, .page(page(exchange))) }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        let typed = try form.value(PasswordPage.currentField)
        let chosen = try form.value(PasswordPage.newField)
        guard !typed.isEmpty else {
            return again(exchange, PasswordChangeError.currentMissing, at: PasswordPage.currentField)
        }
        guard chosen != typed else {
            return again(exchange, PasswordChangeError.unchanged, at: PasswordPage.newField)
        }
        // This check counts as a sign-in attempt of the user, so the rate limit of sign-ins applies. An attacker with a
        // stolen session therefore cannot guess the password here.
        let outcome = try await users.confirm(
            exchange.user, password: typed, in: exchange.request, now: exchange.now)
        switch outcome {
        case .refused(let cause):
            await console.refuse(.passwordChange, because: cause, exchange)
            return again(exchange, PasswordChangeError.currentWrong, at: PasswordPage.currentField)
        case .tooEarly(let seconds, let cause):
            await console.refuse(.throttled, because: cause, exchange, for: "password change")
            return wait(exchange, seconds: seconds)
        case .signedIn(let user):
            guard user.id == exchange.user.id else { throw Console.SignInNeeded(path: exchange.path) }
            // The estimate takes milliseconds, so it follows the rate limit.
            let password: Password
            do {
                password = try Password(
                    choosing: chosen, for: user.username, email: user.email, displayName: user.displayName,
                    host: console.settings.issuer.host)
            } catch {
                return again(exchange, error, at: PasswordPage.newField)
            }
            return try await replace(user, with: try await hasher.hash(password), exchange)
        }
    }

    /// Replaces the password and, in the same transaction, ends all other sessions of the user.
    ///
    /// The session of this browser continues with a new session token.
    private func replace(_ user: User, with hash: PasswordHash, _ exchange: Console.Exchange) async throws -> Reply {
        let begun = try await console.sessions.begin(
            for: user, beside: exchange.request, goingOnWith: exchange.session, now: exchange.now)
        guard case .begun(let session, let cookie) = begun else { throw Console.SignInNeeded(path: exchange.path) }
        let event = try await console.event(of: .passwordChanged, by: exchange)
        let outcome: ChangePasswordOutcome
        do {
            outcome = try await console.store.changePassword(
                of: user.id, from: user.passwordHash, to: hash, keeping: session.digest, at: exchange.now,
                recording: [event])
        } catch {
            _ = try? await console.store.endSession(session.digest, at: exchange.now, recording: [])
            throw error
        }
        switch outcome {
        case .changed:
            console.logger.notice(
                "changed a password", metadata: ["user": "\(user.id)", "request": "\(exchange.request.id)"])
            console.auditor.countRecorded(event)
            let earlier = await users.remember(session, with: hash, in: exchange.request, now: exchange.now)
            return Reply.done(AccountNotice.passwordChanged, at: console.path(.account)).setting(cookie)
                .setting(earlier)
        case .changedMeanwhile:
            try await console.store.endSession(session.digest, at: exchange.now, recording: [])
            return again(exchange, PasswordChangeError.changedMeanwhile, at: PasswordPage.currentField)
        case .userNotActive:
            throw Console.SignInNeeded(path: exchange.path)
        }
    }

    private func again(_ exchange: Console.Exchange, _ problem: some Localized, at field: String) -> Reply {
        let page = page(exchange, problems: [FormProblem(exchange.words(problem), field: field)])
        return Reply(.badRequest, .page(page))
    }

    private func wait(_ exchange: Console.Exchange, seconds: Int) -> Reply {
        let words = exchange.words
        let problem = words(SignInMessage.tooManyAttempts) + " " + words(.wait(seconds: seconds))
        let page = page(exchange, problems: [FormProblem(problem, field: PasswordPage.currentField)])
        return Reply(.tooManyRequests, .page(page), fields: [.retryAfter: String(seconds)])
    }

    private func page(_ exchange: Console.Exchange, problems: [FormProblem] = []) -> PasswordPage {
        let action = console.path(.password)
        return PasswordPage(
            console: console.head(exchange, in: .account),
            problems: problems,
            paths: console.accountPaths(at: .password, exchange),
            username: exchange.user.username.rawValue,
            action: action,
            ticket: console.ticket(exchange, for: action)
        )
    }
}

/// The errors of the password form, except the rules that a new password violates (see `Password`).
private enum PasswordChangeError: String, LocalizationKey {
    case currentMissing = "account.password.current-missing"
    case currentWrong = "account.password.current-wrong"
    case unchanged = "account.password.unchanged"
    case changedMeanwhile = "account.password.changed-meanwhile"
}
