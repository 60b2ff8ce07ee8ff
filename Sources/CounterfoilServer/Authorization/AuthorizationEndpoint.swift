import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The endpoint `/oauth2/authorize` (RFC 6749 §3.1 and §4.1.1): GET with a query, or POST with a form.
struct AuthorizationEndpoint: Sendable {
    let flow: AuthorizationFlow
    let pages: AuthorizationPages
    let sessions: SessionManager

    /// The maximum size in bytes of the authorization request, which the pages carry in a hidden field.
    ///
    /// The endpoints of the forms accept a field of this size.
    private static let carriedLimit = 28 * 1024

    var handlers: [EndpointHandler] { [EndpointHandler(.authorization, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try Self.parameters(of: request)
        let parsed = try await flow.parse(form, now: now)
        let frame = SilentFrame(parsed, in: request)
        do {
            return try await answer(parsed, asking: form, request, in: frame, now: now)
        } catch let refused as AuthorizationFlow.RedirectableError {
            throw await flow.completing(frame?.redirecting(refused) ?? refused)
        }
    }

    private func answer(
        _ parsed: ParsedAuthorizationRequest, asking form: FormParameters, _ request: IncomingRequest,
        in frame: SilentFrame?, now: Date
    ) async throws -> Reply {
        let authorization = try await flow.receive(parsed, in: request, now: now)
        let visit = AuthorizationVisit(
            authorization: authorization, carried: parsed.carried, request: request, now: now)
        if let error = frame?.refusal(of: authorization.request) { throw flow.refusal(error, of: authorization) }
        do {
            return try await answer(visit, asking: form)
        } catch let fault as StoreFault where parsed.forbidsPages {
            // With `prompt=none`, no user reads an error page. So the client gets an authorization error response
            // instead of an HTTP error status (RFC 6749 §4.1.2.1).
            throw flow.refusal(fault, of: authorization)
        } catch let refused as AuthorizationFlow.RedirectableError {
            throw refused
        } catch {
            throw ErrorOfClient(error, clientID: authorization.client.id)
        }
    }

    private func answer(_ visit: AuthorizationVisit, asking form: FormParameters) async throws -> Reply {
        let session = try await sessions.current(visit.request, now: visit.now)
        guard form.pairs.count < FormParameters.pairLimit, visit.carried.utf8.count <= Self.carriedLimit else {
            guard !visit.authorization.request.prompt.contains(.none) else {
                throw flow.refusal(
                    OAuthError(.invalidRequest, "the request is longer than \(Self.carriedLimit) bytes"),
                    of: visit.authorization)
            }
            throw ResponseTargetError.target(
                .parameters(.tooLong(limit: Self.carriedLimit)), clientID: visit.client.id.rawValue)
        }
        // OpenID Connect Core §3.1.2.1: a request can be posted. If a page of another site posts it, the browser leaves
        // out the session cookie because of `SameSite=Lax`. It sends the cookie with the GET request after a redirect.
        if session == nil, visit.request.head.method == .post {
            return .seeOther(flow.settings.issuer.authorizationURL(carried: visit.carried))
        }
        let step = try await flow.next(
            for: visit, session: session, signedInForThis: signedIn(form, visit, session: session))
        if step.showsPage { try pages.checkWebView(visit) }
        switch step {
        case .signIn:
            return pages.signIn(visit)
        case .askConsent(let session, let earlier):
            return try await pages.consent(visit, session: session, earlier: earlier)
        case .confirm(let session):
            return pages.confirmation(visit, session: session)
        case .needsAdministrator:
            throw AuthorizationFlow.ApprovalError.needsAdministrator(visit.client.displayName)
        case .answer(let session, _):
            return try await flow.approve(visit, by: session).reply(flow.allowed, issuer: flow.settings.issuer)
        case .refuse(let error):
            throw flow.refusal(error, of: visit.authorization)
        }
    }

    /// Returns the parameters of the query and, for a POST, of the form in one list.
    ///
    /// A parameter that occurs in the query and in the form is thus detected as repeated.
    private static func parameters(of request: IncomingRequest) throws -> FormParameters {
        var form: FormParameters
        do { form = try FormParameters(parsing: request.query) } catch {
            throw ResponseTargetError.target(.parameters(error))
        }
        if request.head.method == .post {
            let body: FormParameters
            do { body = try request.readForm() } catch { throw PageProblem.unreadableForm(error) }
            for pair in body.pairs { form.append(pair.name, pair.value) }
        }
        return form
    }

    private func signedIn(_ form: FormParameters, _ visit: AuthorizationVisit, session: LiveSession?) -> Bool {
        guard let session, let ticket = try? form.single(AuthorizationPages.signedInParameter) else { return false }
        let checked = try? pages.tickets.check(
            ticket, .signedIn, of: session.holder, request: visit.carried, now: visit.now)
        return checked != nil
    }
}
