import CounterfoilProtocol
import Crypto
import Foundation

/// What a page asked: what the application was when it was shown, its revision and what people judge it by, and what it asked
/// for at which APIs.
struct ShownQuestion: Sendable, Hashable {
    /// What stands in front of the ticket.
    fileprivate let rawValue: String

    init(_ authorization: ValidatedAuthorization) {
        var asked = SHA256()
        asked.update(data: Data(authorization.asked.description.utf8))
        for api in authorization.apis { asked.update(data: Data("\n\(api.resource) \(api.name ?? "")".utf8)) }
        rawValue = Self.name(authorization.client) + Base64URL.encode(Array(asked.finalize()))
    }

    fileprivate init(rawValue: String) { self.rawValue = rawValue }

    /// Whether an application is still what it was.
    func isAbout(_ client: RegisteredClient) -> Bool { rawValue.hasPrefix(Self.name(client)) }

    private static func name(_ client: RegisteredClient) -> String {
        "\(client.revision)." + Base64URL.encode(ClientAppearance(of: client).bytes) + "."
    }
}

/// A question that a page of an authorization asks a user who is signed in.
enum AuthorizationQuestion: Sendable {
    /// Whether the client is allowed what it asks for.
    case consent
    /// Whether to go on with this account to a client that needs no consent.
    case confirmation

    /// The endpoint that the form of its page is posted to.
    var endpoint: Endpoint {
        switch self {
        case .consent: .consent
        case .confirmation: .confirmation
        }
    }

    /// The page that the ticket stands on, so that the answer to one question is never taken for that to the other.
    var purpose: Ticket.Purpose {
        switch self {
        case .consent: .consent
        case .confirmation: .confirmation
        }
    }
}

/// Makes and checks the tickets of pages that ask a question, which also hold what the page asked for whom.
///
/// The message authentication code covers that part too, so that nobody who answers can say that it was another.
struct QuestionTickets: Sendable {
    let tickets: TicketAuthority
    let purpose: Ticket.Purpose

    func issue(
        to session: LiveSession,
        for authorization: ValidatedAuthorization,
        request: String,
        interaction: InteractionIdentifier,
        expires: Date
    ) -> String {
        let shown = ShownQuestion(authorization)
        let ticket = tickets.issue(
            purpose, to: Self.holder(session, shown), request: request, interaction: interaction, expires: expires)
        return shown.rawValue + "." + ticket
    }

    func check(
        _ text: String,
        of session: LiveSession,
        request: String,
        now: Date
    ) throws(TicketAuthority.Refusal) -> (shown: ShownQuestion, interaction: InteractionIdentifier) {
        guard let dot = text.lastIndex(of: ".") else { throw .forged }
        let shown = ShownQuestion(rawValue: String(text[..<dot]))
        let ticket = try tickets.check(
            String(text[text.index(after: dot)...]), purpose, of: Self.holder(session, shown), request: request,
            now: now)
        return (shown, ticket.interaction)
    }

    private static func holder(_ session: LiveSession, _ shown: ShownQuestion) -> String {
        session.holder + "." + shown.rawValue
    }
}
