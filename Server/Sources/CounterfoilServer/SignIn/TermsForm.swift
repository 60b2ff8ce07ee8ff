@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The form with which a signed-in user accepts the terms of the service.
struct TermsForm: Sendable {
    let settings: ServerSettings
    let tickets: TicketAuthority
    let random: RandomBytes

    /// Returns the page with the form.
    ///
    /// - Parameters:
    ///   - terms: The terms, which the user has not accepted yet.
    ///   - session: The session of the user.
    ///   - door: The part of the server at which the user continues.
    ///   - request: The pending request of the door.
    ///   - isSignedInForThis: Whether the user has signed in for this request.
    ///   - clientName: The name of the client to which the user continues; nil for none.
    ///   - now: The time of the request.
    func page(
        _ terms: Terms, for session: LiveSession, at door: SignInDoor, request: String,
        isSignedInForThis: Bool = false, clientName: DisplayName? = nil, now: Date
    ) -> Reply {
        let question = TermsQuestion(
            door: door, request: request, isSignedInForThis: isSignedInForThis, version: terms.version)
        let page = TermsPage(
            clientName: clientName, userDisplayName: DisplayName(of: session.user), termsURI: terms.uri.rawValue,
            action: settings.issuer.path + Endpoint.terms.path, question: question,
            ticket: tickets.issue(
                .terms, to: session.holder, request: question.sentence,
                interaction: InteractionIdentifier(random: random), expires: settings.pageEnd(from: now)))
        return Reply(.ok, .page(page))
    }

    /// Reads the question that a form answers, and checks its ticket.
    ///
    /// - Parameter again: The URL at which the user can open the page again, if the ticket is refused.
    func question(
        _ form: PageForm, of session: LiveSession, again: String, now: Date
    ) throws(PageProblem) -> TermsQuestion {
        guard let door = SignInDoor(rawValue: try form.value("door")) else { throw .fromElsewhere }
        let question = TermsQuestion(
            door: door, request: try form.value("request"),
            isSignedInForThis: try form.value("recent") == "true", version: try form.value("version"))
        let ticket = try form.value("ticket")
        do {
            _ = try tickets.check(ticket, .terms, of: session.holder, request: question.sentence, now: now)
        } catch {
            throw PageProblem(error, again: again)
        }
        return question
    }
}
