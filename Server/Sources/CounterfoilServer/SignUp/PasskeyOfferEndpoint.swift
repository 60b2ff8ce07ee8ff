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
            // The user signs in again, for the same request.
            guard let door = SignInDoor(rawValue: try posted.value("door")) else { throw PageProblem.fromElsewhere }
            return .page(.seeOther(continuation.address(try posted.value("request"), at: door)))
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
        try await form.create(
            posted, answering: question, isUpgrade: isUpgrade, for: session,
            naming: { await clientName(question, posted, request, now) }, on: request, now: now
        ).map(AuthorizationOutcome.page)
    }

    /// Returns the name of the client to which the user continues; nil for none, or if the request has ended.
    private func clientName(
        _ question: PasskeyOfferQuestion, _ posted: PageForm, _ request: IncomingRequest, _ now: Date
    ) async -> DisplayName? {
        let flow = continuation.flow
        guard question.door == .authorization, let parameters = try? posted.pendingRequestParameters(),
            let target = try? await flow.receiveAgain(parameters, in: request, now: now),
            let authorization = try? await flow.validate(target, now: now)
        else { return nil }
        return AuthorizationExchange(authorization: authorization, request: request, now: now).clientName
    }
}
