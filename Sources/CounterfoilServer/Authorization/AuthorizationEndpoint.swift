import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The endpoint `/oauth2/authorize` (RFC 6749 §3.1 and §4.1.1): GET with a query, or POST with a form.
struct AuthorizationEndpoint: Sendable {
    let flow: AuthorizationFlow
    let pages: AuthorizationPages
    let sessions: SessionKeeper

    /// The maximum size of the request that pages carry, in bytes; every later step accepts that size.
    private static let carriedLimit = 28 * 1024

    var handlers: [EndpointHandler] { [EndpointHandler(.authorization, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try Self.parameters(of: request)
        let authorization = try await flow.receive(form, now: now)
        do { return try await answer(authorization, asking: form, on: request, now: now) } catch let fault as StoreFault
            where authorization.request.prompt.contains(.none)
        {
            // RFC 6749 §4.1.2.1: with `prompt=none` the client gets an error response instead of an HTTP error
            // status.
            throw flow.refusal(fault, of: authorization)
        }
    }

    private func answer(
        _ authorization: ValidatedAuthorization, asking form: FormParameters, on request: IncomingRequest, now: Date
    ) async throws -> Reply {
        let session = try await sessions.current(request, now: now)
        let carried = AuthorizationPages.carried(form)
        guard form.pairs.count < FormParameters.pairLimit, carried.utf8.count <= Self.carriedLimit else {
            throw UnansweredRequest.addressee(.parameters(.tooLong(limit: Self.carriedLimit)))
        }
        let step = try await flow.next(
            for: authorization,
            session: session,
            signedInForThis: signedIn(form, carried: carried, session: session, now: now),
            now: now
        )
        if step.showsPage, let blocked = pages.blocked(authorization, carried: carried, on: request) { return blocked }
        switch step {
        case .signIn:
            return pages.signIn(
                authorization, carried: carried, on: request, earlier: pages.earlierSignIns.of(request), now: now)
        case .askConsent(let session, let earlier):
            return try await pages.consent(
                authorization, carried: carried, on: request, session: session, earlier: earlier, now: now)
        case .confirm(let session):
            return pages.confirmation(authorization, carried: carried, on: request, session: session, now: now)
        case .answer(let session, _):
            return try await flow.approve(
                authorization, carried: carried, by: session, on: request,
                interaction: InteractionIdentifier(random: pages.random), now: now
            ).reply(.allowed, issuer: flow.settings.issuer)
        case .refuse(let error):
            throw flow.refusal(error, of: authorization)
        }
    }

    /// The parameters of the query and, for a POST, of the form, in one list, so that repeated parameters are
    /// detected.
    private static func parameters(of request: IncomingRequest) throws -> FormParameters {
        var form: FormParameters
        do { form = try FormParameters(parsing: request.query) } catch {
            throw UnansweredRequest.addressee(.parameters(error))
        }
        if request.head.method == .post {
            let body: FormParameters
            do { body = try request.readForm() } catch { throw PageProblem.unreadableForm(error) }
            for pair in body.pairs { form.append(pair.name, pair.value) }
        }
        return form
    }

    private func signedIn(_ form: FormParameters, carried: String, session: LiveSession?, now: Date) -> Bool {
        guard let session, let ticket = try? form.single(AuthorizationPages.signedInParameter) else { return false }
        let checked = try? pages.tickets.check(ticket, .signedIn, of: session.holder, request: carried, now: now)
        return checked != nil
    }
}
