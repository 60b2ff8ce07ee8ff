import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes

/// The verdicts on the redirect URIs in a form that is not saved yet.
///
/// They are part of the page, and a script updates them while the developer types.
struct RedirectURIVerdicts: Sendable {
    let console: Console

    /// The client to which the redirect URIs would belong.
    struct Subject: Sendable {
        let type: ClientType
        /// The identifier of the client; nil for a new client whose form has no valid ticket.
        let id: ClientIdentifier?
        let owner: UserIdentifier?
        var isFirstParty = false
        /// The registered client; nil for a new one.
        var registered: RegisteredClient?
    }

    /// Responds to `/apps/verdict` with the verdicts as JSON, by the same rules and for the same client as when the
    /// form is saved.
    func answer(_ exchange: Console.Exchange) async throws -> Reply {
        let form = try PageForm(exchange.request, issuer: console.settings.issuer)
        let draft = try ClientDraft(form)
        let rows = try await rows(draft, of: try await subject(form, exchange), words: exchange.words)
        return Reply(.ok, .json(Array(try JSONEncoder().encode(rows.map(LiveVerdict.init)))))
    }

    /// Returns the verdict on each redirect URI of a draft.
    func rows(_ draft: ClientDraft, of subject: Subject, words: Localizer) async throws -> [FormVerdict] {
        var draft = draft
        if let registered = subject.registered { draft.accept(registrationOf: registered) }
        let context = console.rules.context(
            draft, type: subject.type, id: subject.id, isFirstParty: subject.isFirstParty,
            schemesInUse: try await console.schemesInUse(by: subject.owner, except: subject.id))
        let judged = draft.redirectURIs.prefix(RedirectURIRegistration.limit).map { text in
            (text: text, verdict: RedirectURIRegistration.verdict(on: text, for: context))
        }
        let client = Self.client(
            of: subject,
            at: judged.compactMap { if case .accepted(let uri, _) = $0.verdict { uri } else { nil } })
        return judged.map { text, verdict in
            let shown = String(text.prefix(300))
            return switch verdict {
            case .accepted(let uri, let warnings):
                FormVerdict(
                    shown, warnings.allSatisfy(\.isNote) ? .accepted : .warned,
                    words: warnings.map { words($0) },
                    examples: client.map {
                        RedirectURIPreview.examples(
                            for: uri, of: $0, issuer: console.settings.issuer,
                            callbackOrigin: console.settings.callbackOrigin,
                            allowsDevelopment: console.settings.allowsDevelopmentRedirectURIs
                        )
                        .map { ClientPage.Example($0, words: words) }
                    } ?? [])
            case .refused(let refusal): FormVerdict(shown, .refused, words: [words(refusal)])
            }
        }
    }

    /// Returns the client that the field `client_id` names, if the user may manage it; a new client if the field is
    /// empty.
    private func subject(_ form: PageForm, _ exchange: Console.Exchange) async throws -> Subject {
        let named = try form.value("client_id")
        if !named.isEmpty {
            guard let id = ClientIdentifier(named),
                let client = ClientAccess.judge(
                    try await console.registry.atArrival().client(id), by: exchange.user,
                    isDeveloper: try await console.store.isDeveloper(exchange.user.id, of: id))?.client
            else { throw NotFoundError() }
            return Subject(client)
        }
        guard console.settings.registration.isOpen(to: exchange.user) else { throw NotFoundError() }
        // The identifier of the new client is derived from the ticket of the form. Without a valid ticket, the verdicts
        // ignore the identifier.
        let ticket = try? console.tickets.check(
            try form.value("ticket"), .console, of: exchange.session.holder, request: console.path(.newClient),
            now: exchange.now)
        return Subject(
            type: ClientType(rawValue: try form.value(ClientField.type.rawValue)) ?? .native,
            id: ticket.flatMap { ClientIdentifier(registeredFrom: $0.interaction) }, owner: exchange.user.id)
    }

    /// Creates a client with the values by which redirect URIs are matched; it serves only to compute the examples
    /// of a verdict.
    private static func client(of subject: Subject, at redirectURIs: [RedirectURI]) -> RegisteredClient? {
        guard let id = subject.id ?? ClientIdentifier("app") else { return nil }
        return RegisteredClient(
            id: id, type: subject.type, owner: subject.owner, presentation: ClientPresentation(name: ""),
            redirectURIs: redirectURIs, scope: Scope([]), policy: .standard(for: subject.type),
            createdAt: .distantPast)
    }
}

extension RedirectURIVerdicts.Subject {
    init(_ client: RegisteredClient) {
        self.init(
            type: client.type, id: client.id, owner: client.owner, isFirstParty: client.policy.isFirstParty,
            registered: client)
    }
}

extension Console {
    /// Returns the private-use URI schemes in the redirect URIs of all clients of an owner except the client `id`.
    func schemesInUse(
        by owner: UserIdentifier?, except id: ClientIdentifier?
    ) async throws -> Set<String> {
        guard let owner else { return [] }
        return RedirectURIContext.schemes(of: try await store.clients(of: owner).filter { $0.id != id })
    }
}

extension ClientIdentifier {
    /// Derives the identifier of a new client from its registration form, so that a form that is sent twice registers
    /// only one client.
    init?(registeredFrom page: InteractionIdentifier) { self.init("app_" + page.rawValue) }
}

/// A verdict in the JSON that the script of the form reads.
private struct LiveVerdict: Encodable {
    let uri: String
    let state: FormVerdict.State
    let words: [String]
    let examples: [ClientPage.Example]

    init(_ verdict: FormVerdict) {
        uri = verdict.uri
        state = verdict.state
        words = verdict.words
        examples = verdict.examples
    }
}
