import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/account/sessions`: the sessions of a user and the sign-ins of apps, and the forms that end one of them, or all
/// except the current session and the apps that were signed in from it.
struct SignedInBrowsers: Sendable {
    let console: Console

    private var apps: SignedInApps { SignedInApps(console: console) }

    /// The values of the form field `decision`.
    private enum Decision: String {
        case end
        case endOthers = "end-others"
        case endApp = "end-app"
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        let action = console.path(.sessions)
        let page = SessionsPage(
            console: console.head(exchange, in: .account),
            notice: try await notice(exchange),
            paths: console.accountPaths(at: .sessions, exchange),
            rows: try await rows(of: exchange.user, exchange),
            apps: try await apps.list(of: exchange.user.id, exchange),
            action: action,
            ticket: console.ticket(exchange, for: action)
        )
        return Reply(.ok, .page(page))
    }

    /// Returns the sessions of a user that are valid: that of this browser first, then the most recently used ones.
    func rows(of user: User, _ exchange: Console.Exchange) async throws -> [SessionsPage.Row] {
        let live = try await console.store.sessions(of: user.id).filter { session in
            let facts = SessionFacts(session: session, user: user)
            return SessionRules.live(facts, now: exchange.now, settings: console.settings) != nil
        }
        let current = live.filter { $0.digest == exchange.session.digest }
        let others = live.filter { $0.digest != exchange.session.digest }
        return (current + others).map { row($0, exchange) }
    }

    func end(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        switch Decision(rawValue: try form.value("decision")) {
        case .endOthers:
            let event = console.event(.signOut, by: exchange, detail: "all other sessions")
            try await console.store.signOutEverywhere(
                exchange.user.id, except: exchange.session.digest, at: exchange.now, recording: [event])
            console.auditor.countRecorded(event)
            return .done(AccountNotice.othersEnded, at: console.path(.sessions))
        case .end:
            let digest = Base64URL.decode(try form.value("session")).flatMap(ArtefactDigest.init(stored:))
            guard digest != exchange.session.digest else { return try await console.signOut(exchange) }
            // A session of another user gets the same response as a session that does not exist, so the response does
            // not reveal whether it exists.
            let event = console.event(.signOut, by: exchange, detail: "another session")
            guard let digest,
                try await console.store.endSession(digest, of: exchange.user.id, at: exchange.now, recording: [event])
            else {
                return .done(AccountNotice.sessionOver, at: console.path(.sessions))
            }
            console.auditor.countRecorded(event)
            return .done(AccountNotice.sessionEnded, at: console.path(.sessions))
        case .endApp: return try await apps.end(form, exchange)
        case nil: throw PageProblem.noDecision
        }
    }

    /// Returns the confirmation of the last action, with what apps can still do after it; nil if there is none.
    private func notice(_ exchange: Console.Exchange) async throws -> String? {
        guard let notice = exchange.noticed(AccountNotice.self) else { return nil }
        let ended = EndedAccess(console: console)
        if notice == .appEnded {
            // Anyone can write such a URL, so the page says nothing of a sign-in that has not ended.
            guard let rest = try await ended.after(ending: exchange.noticedSignIn, exchange) else { return nil }
            return exchange.words(notice) + " " + rest
        }
        let rest = notice == .othersEnded ? try await ended.afterEndingAll(of: exchange.user.id, exchange) : nil
        return [exchange.words(notice), rest].compactMap(\.self).joined(separator: " ")
    }

    private func row(_ session: Session, _ exchange: Console.Exchange) -> SessionsPage.Row {
        let isCurrent = session.digest == exchange.session.digest
        return SessionsPage.Row(
            id: Base64URL.encode(session.digest.bytes),
            device: exchange.words(Device(userAgent: session.userAgent).text),
            source: session.source.isEmpty ? nil : session.source,
            signedIn: exchange.words.ago(session.authenticatedAt, now: exchange.now),
            lastSeen: exchange.words.ago(isCurrent ? exchange.now : session.lastSeenAt, now: exchange.now),
            staysUntil: session.isPersistent ? exchange.words.date(session.expiresAt) : nil,
            isCurrent: isCurrent
        )
    }
}
