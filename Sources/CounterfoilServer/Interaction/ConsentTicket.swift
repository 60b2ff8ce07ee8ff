import CounterfoilProtocol
import Foundation

/// What an application was when a page showed it: its revision and what people judge it by.
struct ShownClient: Sendable, Hashable {
    /// What stands in front of the ticket.
    fileprivate let rawValue: String

    init(_ client: RegisteredClient) {
        rawValue = "\(client.revision)." + Base64URL.encode(ClientAppearance(of: client).bytes)
    }

    fileprivate init(rawValue: String) { self.rawValue = rawValue }
}

/// Makes and checks the tickets of consent pages, which also hold the application as the page showed it.
///
/// The message authentication code covers that part too, so that nobody who answers can say that it was another.
struct ConsentTickets: Sendable {
    let tickets: TicketAuthority

    func issue(
        to session: LiveSession,
        for client: RegisteredClient,
        request: String,
        interaction: InteractionIdentifier,
        expires: Date
    ) -> String {
        let shown = ShownClient(client)
        let ticket = tickets.issue(
            .consent, to: Self.holder(session, shown), request: request, interaction: interaction, expires: expires)
        return shown.rawValue + "." + ticket
    }

    func check(
        _ text: String,
        of session: LiveSession,
        request: String,
        now: Date
    ) throws(TicketAuthority.Refusal) -> (shown: ShownClient, interaction: InteractionIdentifier) {
        guard let dot = text.lastIndex(of: ".") else { throw .forged }
        let shown = ShownClient(rawValue: String(text[..<dot]))
        let ticket = try tickets.check(
            String(text[text.index(after: dot)...]), .consent, of: Self.holder(session, shown), request: request,
            now: now)
        return (shown, ticket.interaction)
    }

    private static func holder(_ session: LiveSession, _ shown: ShownClient) -> String {
        session.holder + "." + shown.rawValue
    }
}
