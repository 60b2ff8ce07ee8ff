import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// `/account/password`: the change and the removal of a password by a user who knows it, a new one for a user who has
/// none and has just signed in, and the removal of an identity at the page of the owner.
struct PasswordChange: Sendable {
    let console: Console
    let hasher: PasswordHasher
    let users: SignIn

    /// The values of the form field `decision`; a form without it changes the password.
    private enum Decision: String {
        case change = ""
        case add, remove
        case removeIdentity = "remove-identity"
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply { Reply(.ok, .page(try await page(exchange))) }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        guard let decision = Decision(rawValue: try form.value("decision")) else { throw PageProblem.noDecision }
        guard decision != .removeIdentity else {
            return try await removeIdentity(try form.value(PasswordPage.identityField), exchange)
        }
        // The page was open while the user added or removed the password elsewhere.
        guard (exchange.user.passwordHash == nil) == (decision == .add) else {
            return try await again(exchange, PasswordChangeError.changedMeanwhile, at: nil)
        }
        let typed = try form.value(PasswordPage.currentField)
        let chosen = decision == .remove ? nil : try form.value(PasswordPage.newField)
        guard decision != .add else { return try await replace(exchange.user, choosing: chosen, exchange) }
        guard !typed.isEmpty else {
            return try await again(exchange, PasswordChangeError.currentMissing, at: PasswordPage.currentField)
        }
        guard chosen != typed else {
            return try await again(exchange, PasswordChangeError.unchanged, at: PasswordPage.newField)
        }
        return try await confirm(exchange, by: typed, choosing: chosen)
    }

    /// Verifies the current password, and replaces it; nil removes it.
    ///
    /// The check counts as a sign-in attempt of the user, so the rate limit of sign-ins applies. An attacker with a
    /// stolen session therefore cannot guess the password here.
    private func confirm(
        _ exchange: Console.Exchange, by typed: String, choosing chosen: String?
    ) async throws -> Reply {
        let outcome = try await users.confirm(
            exchange.user, password: typed, in: exchange.request, now: exchange.now)
        switch outcome {
        case .refused(let cause):
            await console.refuse(.passwordChange, because: cause, exchange)
            return try await again(exchange, PasswordChangeError.currentWrong, at: PasswordPage.currentField)
        case .tooEarly(let seconds, let cause):
            await console.refuse(.throttled, because: cause, exchange, for: "password change")
            return try await wait(exchange, seconds: seconds)
        case .signedIn(let user):
            guard user.id == exchange.user.id else { throw Console.SignInNeeded(path: exchange.path) }
            return try await replace(user, choosing: chosen, exchange)
        }
    }

    /// Replaces, adds or removes the password and, in the same transaction, ends all other sessions of the user.
    ///
    /// The session of this browser continues with a new session token.
    private func replace(_ user: User, choosing chosen: String?, _ exchange: Console.Exchange) async throws -> Reply {
        var hash: PasswordHash?
        if let chosen {
            // The estimate takes milliseconds, so it follows the rate limit.
            do {
                let password = try Password(
                    choosing: chosen, for: user.username, email: user.email, displayName: user.displayName,
                    host: console.settings.issuer.host)
                hash = try await hasher.hash(password)
            } catch let refusal as Password.Refusal {
                return try await again(exchange, refusal, at: PasswordPage.newField)
            }
        } else {
            // A notice counts against its limit before the commit, so a password that stays must cause none.
            guard try await canRemove(exchange) else {
                return try await again(exchange, PasswordChangeError.passkeysMissing, at: nil)
            }
        }
        let begun = try await console.sessions.begin(
            for: user, beside: exchange.request, goingOnWith: exchange.session, now: exchange.now)
        guard case .begun(let session, let cookie) = begun else { throw Console.SignInNeeded(path: exchange.path) }
        let (done, change): (AccountNotice, AccountChange) =
            switch (user.passwordHash, hash) {
            case (nil, _): (.passwordAdded, .passwordAdded)
            case (_, nil): (.passwordRemoved, .passwordRemoved)
            default: (.passwordChanged, .passwordChanged)
            }
        let event = try await console.event(of: change, by: exchange)
        let outcome: ChangePasswordOutcome
        do {
            outcome = try await console.store.changePassword(
                of: user.id, from: user.passwordHash, to: hash, keeping: session.digest,
                countingIdentitiesOf: console.settings.identityIssuers, at: exchange.now, recording: [event])
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
            return Reply.done(done, at: console.path(.account)).setting(cookie).setting(earlier)
        case .changedMeanwhile, .neededAsWayIn:
            try await console.store.endSession(session.digest, at: exchange.now, recording: [])
            let problem = outcome == .changedMeanwhile ? PasswordChangeError.changedMeanwhile : .passkeysMissing
            return try await again(exchange, problem, at: nil)
        case .userNotActive:
            throw Console.SignInNeeded(path: exchange.path)
        }
    }

    private func again(
        _ exchange: Console.Exchange, _ problem: some Localized, at field: String?
    ) async throws -> Reply {
        let page = try await page(exchange, problems: [FormProblem(exchange.words(problem), field: field)])
        return Reply(.badRequest, .page(page))
    }

    private func wait(_ exchange: Console.Exchange, seconds: Int) async throws -> Reply {
        let words = exchange.words
        let problem = words(SignInMessage.tooManyAttempts) + " " + words(.wait(seconds: seconds))
        let page = try await page(exchange, problems: [FormProblem(problem, field: PasswordPage.currentField)])
        return Reply(.tooManyRequests, .page(page), fields: [.retryAfter: String(seconds)])
    }

    private func canRemove(_ exchange: Console.Exchange) async throws -> Bool {
        guard exchange.user.passwordHash != nil else { return false }
        return try await waysIn(exchange).allows(.password)
    }

    private func waysIn(_ exchange: Console.Exchange) async throws -> WaysIn {
        // Passkeys of another issuer sign no user in at one without a domain.
        let hasPasskeys = PasskeyCeremonies(console.settings.issuer) != nil
        let isLost = try await console.store.secondFactor(of: exchange.user.id) == .lost
        return WaysIn(
            hasPassword: exchange.user.passwordHash != nil && !isLost,
            passkeys: hasPasskeys ? try await console.store.passkeys(of: exchange.user.id).count : 0,
            identities: try await console.waysInElsewhere(of: exchange.user).count)
    }

    /// Removes an identity at the page of the owner, unless it is needed as a way in.
    private func removeIdentity(_ text: String, _ exchange: Console.Exchange) async throws -> Reply {
        // The form asks for no password.
        guard console.isRecentEnough(exchange.session, for: .passkeys, now: exchange.now) else {
            throw Console.SignInNeeded(path: exchange.path)
        }
        guard let id = UserIdentityIdentifier(text) else {
            return .done(AccountNotice.identityRemoved, at: console.path(.password))
        }
        let event = console.event(.account, by: exchange, detail: UserIdentity.removalDetail)
        let outcome = try await console.store.removeIdentity(
            id, of: exchange.user.id, countingIdentitiesOf: console.settings.identityIssuers, recording: [event])
        switch outcome {
        case .removed: console.auditor.countRecorded(event)
        case .notFound: break
        case .neededAsWayIn: return try await again(exchange, PasswordChangeError.lastWayIn, at: nil)
        }
        return .done(AccountNotice.identityRemoved, at: console.path(.password))
    }

    private func page(_ exchange: Console.Exchange, problems: [FormProblem] = []) async throws -> PasswordPage {
        let action = console.path(.password)
        let hasPassword = exchange.user.passwordHash != nil
        return PasswordPage(
            console: console.head(exchange, in: .account),
            notice: exchange.notice(AccountNotice.self),
            problems: problems,
            paths: console.accountPaths(at: .password, exchange),
            username: exchange.user.username.rawValue,
            hasPassword: hasPassword,
            canRemove: try await canRemove(exchange),
            passkeys: PasskeyCeremonies(console.settings.issuer) == nil ? nil : console.path(.passkeys),
            action: action,
            ticket: console.ticket(exchange, for: action),
            identities: try await identities(exchange)
        )
    }

    private func identities(_ exchange: Console.Exchange) async throws -> PasswordPage.IdentityList? {
        let identities = try await console.identities(of: exchange.user)
        guard let page = console.settings.externalSignIn, !identities.isEmpty else { return nil }
        let canRemove = try await waysIn(exchange).allows(.identity)
        return PasswordPage.IdentityList(
            rows: identities.map { identity in
                PasswordPage.IdentityList.Row(
                    name: page.label, added: exchange.words.date(identity.createdAt),
                    lastUsed: identity.lastUsedAt.map { exchange.words.ago($0, now: exchange.now) },
                    removal: canRemove ? identity.id.rawValue : nil)
            },
            canRemove: canRemove)
    }
}

extension Console {
    /// Returns the identities with which a user can sign in now.
    func identities(of user: User) async throws -> [UserIdentity] {
        let issuers = settings.identityIssuers
        guard !issuers.isEmpty else { return [] }
        return try await store.identities(of: user.id).filter { issuers.contains($0.subject.issuer) }
    }

    /// Returns the identities of a user that are ways in (``CounterfoilStore/WaysIn``).
    func waysInElsewhere(of user: User) async throws -> [UserIdentity] {
        user.role == nil ? try await identities(of: user) : []
    }
}

extension UserIdentity {
    /// The detail of the audit event of the removal.
    static let removalDetail = "removed an identity elsewhere"
}

/// The errors of the password form, except the rules that a new password violates (see `Password`).
private enum PasswordChangeError: String, LocalizationKey {
    case currentMissing = "account.password.current-missing"
    case currentWrong = "account.password.current-wrong"
    case unchanged = "account.password.unchanged"
    case changedMeanwhile = "account.password.changed-meanwhile"
    case passkeysMissing = "account.password.passkeys-missing"
    case lastWayIn = "account.identities.last-way-in"
}
