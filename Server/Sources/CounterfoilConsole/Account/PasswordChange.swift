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
    let people: SignIn

    func show(_ visit: Console.Visit) -> Reply { Reply(.ok, .page(page(visit))) }

    func change(_ visit: Console.Visit) async throws -> Reply {
        let (form, _) = try console.form(visit)
        let typed = try form.value(PasswordPage.currentField)
        let chosen = try form.value(PasswordPage.newField)
        guard !typed.isEmpty else {
            return again(visit, PasswordChangeError.currentMissing, at: PasswordPage.currentField)
        }
        let password: Password
        do {
            password = try Password(choosing: chosen, for: visit.person.username)
        } catch {
            return again(visit, error, at: PasswordPage.newField)
        }
        guard chosen != typed else {
            return again(visit, PasswordChangeError.unchanged, at: PasswordPage.newField)
        }
        // This check counts as a sign-in attempt of the user, so the rate limit of sign-ins applies. An attacker with a
        // stolen session therefore cannot guess the password here.
        let outcome = try await people.confirm(
            visit.person, password: typed, in: visit.request, now: visit.now)
        switch outcome {
        case .refused(let cause):
            await console.refuse(.passwordChange, because: cause, visit)
            return again(visit, PasswordChangeError.currentWrong, at: PasswordPage.currentField)
        case .tooEarly(let seconds, let cause):
            await console.refuse(.throttled, because: cause, visit, for: "password change")
            return wait(visit, seconds: seconds)
        case .signedIn(let person):
            guard person.id == visit.person.id else { throw Console.SignInNeeded(path: visit.path) }
            return try await replace(person, with: try await hasher.hash(password), visit)
        }
    }

    /// Replaces the password and, in the same transaction, ends all other sessions of the user.
    ///
    /// The session of this browser continues with a new session token.
    private func replace(_ person: Person, with hash: PasswordHash, _ visit: Console.Visit) async throws -> Reply {
        let begun = try await console.sessions.begin(
            for: person, beside: visit.request, goingOnWith: visit.session, now: visit.now)
        guard let (session, cookie) = begun else { throw Console.SignInNeeded(path: visit.path) }
        let event = console.event(.passwordChange, by: visit, detail: "ended all other sessions")
        let outcome: ChangePasswordOutcome
        do {
            outcome = try await console.store.changePassword(
                of: person.id, from: person.passwordHash, to: hash, keeping: session.digest, at: visit.now,
                recording: [event])
        } catch {
            _ = try? await console.store.endSession(session.digest, at: visit.now, recording: [])
            throw error
        }
        switch outcome {
        case .changed:
            console.logger.notice(
                "changed a password", metadata: ["user": "\(person.id)", "request": "\(visit.request.id)"])
            console.auditor.countRecorded(event)
            return Reply.done(AccountNotice.passwordChanged, at: console.path(.account)).setting(cookie)
        case .changedMeanwhile:
            try await console.store.endSession(session.digest, at: visit.now, recording: [])
            return again(visit, PasswordChangeError.changedMeanwhile, at: PasswordPage.currentField)
        case .personNotActive:
            throw Console.SignInNeeded(path: visit.path)
        }
    }

    private func again(_ visit: Console.Visit, _ problem: some Localized, at field: String) -> Reply {
        let page = page(visit, problems: [FormProblem(visit.words(problem), field: field)])
        return Reply(.badRequest, .page(page))
    }

    private func wait(_ visit: Console.Visit, seconds: Int) -> Reply {
        let words = visit.words
        let problem = words(SignInMessage.tooManyAttempts) + " " + words(.wait(seconds: seconds))
        let page = page(visit, problems: [FormProblem(problem, field: PasswordPage.currentField)])
        return Reply(.tooManyRequests, .page(page), fields: [.retryAfter: String(seconds)])
    }

    private func page(_ visit: Console.Visit, problems: [FormProblem] = []) -> PasswordPage {
        let action = console.path(.password)
        return PasswordPage(
            console: console.head(visit, in: .account),
            problems: problems,
            paths: console.accountPaths(at: .password),
            username: visit.person.username.rawValue,
            action: action,
            ticket: console.ticket(visit, for: action)
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
