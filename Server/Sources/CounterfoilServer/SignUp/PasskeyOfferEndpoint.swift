import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The endpoint that receives the form of the page on which a user creates a passkey after the sign-in.
///
/// Whatever the user decides, the request for which the user has signed in continues.
struct PasskeyOfferEndpoint: Sendable {
    let continuation: SignInContinuation

    var handlers: [EndpointHandler] { [EndpointHandler(.passkeyOffer, of: continuation.flow, respond)] }

    private var form: PasskeyOfferForm { continuation.pages.signInForm.passkeyOffers }

    private func respond(to request: IncomingRequest, now: Date) async throws -> AuthorizationOutcome {
        let posted = try PageForm(request, issuer: continuation.flow.settings.issuer)
        guard let session = try await continuation.sessions.current(request, now: now) else {
            return .page(.seeOther(continuation.signInPath))
        }
        let question = try form.question(
            posted, of: session, again: { continuation.address($0.request, at: $0.door) }, now: now)
        switch PasskeyOfferPage.Decision(rawValue: try posted.value("decision")) {
        case .later: break
        case .create: if let again = try await create(posted, question, session, request, now) { return again }
        case .upgrade:
            if let again = try await create(posted, question, session, request, now, isUpgrade: true) { return again }
        case nil: throw PageProblem.noDecision
        }
        return try await continuation.proceed(
            to: question.door, posted, isSignedInForThis: question.isSignedInForThis, request, now: now)
    }

    /// Adds the passkey; returns the page again if it was not added.
    private func create(
        _ posted: PageForm, _ question: PasskeyOfferQuestion, _ session: LiveSession, _ request: IncomingRequest,
        _ now: Date, isUpgrade: Bool = false
    ) async throws -> AuthorizationOutcome? {
        try await form.create(posted, answering: question, isUpgrade: isUpgrade, for: session, on: request, now: now)
            .map(AuthorizationOutcome.page)
    }
}
