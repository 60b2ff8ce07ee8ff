import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/account/sessions`: the sessions of a user, and the forms that end one session or all except the current one.
struct SignedInBrowsers: Sendable {
    let console: Console

    /// The values of the form field `decision`.
    private enum Decision: String {
        case end
        case endOthers = "end-others"
    }

    func show(_ visit: Console.Visit) async throws -> Reply {
        let live = try await console.store.sessions(of: visit.person.id).filter { session in
            let facts = SessionFacts(session: session, person: visit.person)
            return SessionRules.live(facts, now: visit.now, settings: console.settings) != nil
        }
        let current = live.filter { $0.digest == visit.session.digest }
        let others = live.filter { $0.digest != visit.session.digest }
        let action = console.path(.sessions)
        let page = SessionsPage(
            console: console.head(visit, in: .account),
            notice: visit.notice(AccountNotice.self),
            paths: console.accountPaths(at: .sessions),
            rows: (current + others).map { row($0, visit) },
            action: action,
            ticket: console.ticket(visit, for: action)
        )
        return Reply(.ok, .page(page))
    }

    func end(_ visit: Console.Visit) async throws -> Reply {
        let (form, _) = try console.form(visit)
        switch Decision(rawValue: try form.value("decision")) {
        case .endOthers:
            let event = console.event(.signOut, by: visit, detail: "all other sessions")
            try await console.store.signOutEverywhere(
                visit.person.id, except: visit.session.digest, at: visit.now, recording: [event])
            console.auditor.countRecorded(event)
            return .done(AccountNotice.othersEnded, at: console.path(.sessions))
        case .end:
            let digest = Base64URL.decode(try form.value("session")).flatMap(ArtefactDigest.init(stored:))
            guard digest != visit.session.digest else { return try await console.signOut(visit) }
            // A session of another user gets the same response as a session that does not exist, so the response does
            // not reveal whether it exists.
            let event = console.event(.signOut, by: visit, detail: "another session")
            guard let digest,
                try await console.store.endSession(digest, of: visit.person.id, at: visit.now, recording: [event])
            else {
                return .done(AccountNotice.sessionOver, at: console.path(.sessions))
            }
            console.auditor.countRecorded(event)
            return .done(AccountNotice.sessionEnded, at: console.path(.sessions))
        case nil: throw PageProblem.noDecision
        }
    }

    private func row(_ session: Session, _ visit: Console.Visit) -> SessionsPage.Row {
        let isCurrent = session.digest == visit.session.digest
        return SessionsPage.Row(
            id: Base64URL.encode(session.digest.bytes),
            device: visit.words(Device(userAgent: session.userAgent).text),
            source: session.source.isEmpty ? nil : session.source,
            signedIn: visit.words.ago(session.authenticatedAt, now: visit.now),
            lastSeen: visit.words.ago(isCurrent ? visit.now : session.lastSeenAt, now: visit.now),
            isCurrent: isCurrent
        )
    }
}
