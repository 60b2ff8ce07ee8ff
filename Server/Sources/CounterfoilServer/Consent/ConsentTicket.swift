import CounterfoilProtocol
import CounterfoilStore
import Crypto
import Foundation

/// The snapshot of the question on a page: the revision and the appearance of the client, and the requested
/// scopes and APIs.
///
/// The server compares it with the current state, so that an answer never applies to another question.
struct ConsentSnapshot: Sendable, Hashable {
    /// The encoded snapshot, with which the form ticket begins.
    fileprivate let rawValue: String

    init(_ access: RequestedAccess) {
        var asked = SHA256()
        asked.update(data: Data(access.asked.description.utf8))
        for api in access.apis { asked.update(data: Data("\n\(api.resource) \(api.name ?? "")".utf8)) }
        rawValue = Self.name(access.client) + Base64URL.encode(Array(asked.finalize()))
    }

    fileprivate init(rawValue: String) { self.rawValue = rawValue }

    /// Returns true if the client is unchanged since the snapshot.
    func isAbout(_ client: RegisteredClient) -> Bool { rawValue.hasPrefix(Self.name(client)) }

    private static func name(_ client: RegisteredClient) -> String {
        "\(client.revision)." + Base64URL.encode(ClientAppearance(of: client).bytes) + "."
    }
}

/// A question to a signed-in user on a page of the authorization flow.
enum AuthorizationQuestion: Sendable {
    /// The question whether the client gets the access that it requests.
    case consent
    /// The question whether to continue with this account to a client that needs no consent.
    case confirmation

    /// The endpoint that the form is posted to.
    var endpoint: Endpoint {
        switch self {
        case .consent: .consent
        case .confirmation: .confirmation
        }
    }

    /// The purpose of the form ticket, so that the form for one question is never accepted for the other question.
    var purpose: Ticket.Purpose {
        switch self {
        case .consent: .consent
        case .confirmation: .confirmation
        }
    }
}

/// A page with a question, as its ticket has it.
struct AskedPage: Sendable {
    let shown: ConsentSnapshot
    let interaction: InteractionIdentifier
    /// Whether the user signed in for the request and then came to the page.
    let signedInForThis: Bool
}

/// Issues and verifies the form tickets of pages that ask the user a question.
///
/// A ticket begins with the snapshot of the question. The message authentication code covers the snapshot, so that a
/// submitted form cannot change the question.
struct QuestionTickets: Sendable {
    let tickets: TicketAuthority
    let purpose: Ticket.Purpose

    func issue(
        to session: LiveSession,
        for access: RequestedAccess,
        request: String,
        interaction: InteractionIdentifier,
        signedInForThis: Bool = false,
        expires: Date
    ) -> String {
        let shown = ConsentSnapshot(access)
        let ticket = tickets.issue(
            purpose, to: Self.holder(session, shown, signedInForThis: signedInForThis), request: request,
            interaction: interaction, expires: expires)
        return shown.rawValue + "." + ticket
    }

    func check(
        _ text: String,
        of session: LiveSession,
        request: String,
        now: Date
    ) throws(TicketAuthority.Refusal) -> AskedPage {
        guard let dot = text.lastIndex(of: ".") else { throw .forged }
        let shown = ConsentSnapshot(rawValue: String(text[..<dot]))
        func check(signedInForThis: Bool) throws(TicketAuthority.Refusal) -> AskedPage {
            let ticket = try tickets.check(
                String(text[text.index(after: dot)...]), purpose,
                of: Self.holder(session, shown, signedInForThis: signedInForThis), request: request, now: now)
            return AskedPage(shown: shown, interaction: ticket.interaction, signedInForThis: signedInForThis)
        }
        do { return try check(signedInForThis: false) } catch {
            guard case .forged = error else { throw error }
            return try check(signedInForThis: true)
        }
    }

    private static func holder(_ session: LiveSession, _ shown: ConsentSnapshot, signedInForThis: Bool) -> String {
        session.holder + "." + shown.rawValue + (signedInForThis ? ".signed-in" : "")
    }
}
