import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The end of a request to the authorization endpoint, or of a form of its pages.
enum AuthorizationOutcome: Sendable {
    /// The authorization continues with a page, or with a redirect to another URL of this server.
    case page(Reply)
    /// The client gets the authorization response.
    case redirect(AuthorizationRedirect)
    /// The user gets an error page, because no response can be sent to the client.
    case problem(any Error)

    /// Returns the outcome with cookies that the HTTP response sets.
    func setting(_ cookies: [String]) -> AuthorizationOutcome {
        switch self {
        case .page(let reply): return .page(reply.setting(cookies))
        case .redirect(var redirect):
            redirect.cookies = cookies
            return .redirect(redirect)
        case .problem: return self
        }
    }
}

extension EndpointHandler {
    /// Creates the handler of an endpoint at which an authorization can end.
    ///
    /// - Parameter respond: The steps; an error that they throw is a ``AuthorizationOutcome/problem(_:)``.
    init(
        _ endpoint: Endpoint, of flow: AuthorizationFlow,
        _ respond: @escaping @Sendable (_ request: IncomingRequest, _ now: Date) async throws -> AuthorizationOutcome
    ) {
        self.endpoint = endpoint
        answer = { request, now, _ in
            let outcome: AuthorizationOutcome
            do { outcome = try await respond(request, now) } catch { outcome = .problem(error) }
            return await flow.answer(outcome, to: request, at: endpoint)
        }
    }
}

extension AuthorizationFlow {
    /// Runs the steps of a request whose client and redirect URI are verified.
    ///
    /// The client gets an `OAuthError` that a step throws (RFC 6749 §4.1.2.1), and the user any other error. With
    /// `prompt=none`, no user reads an error page, so the client gets an error for a store fault too.
    func outcome(
        at target: VerifiedResponseTarget, _ steps: () async throws -> AuthorizationOutcome
    ) async -> AuthorizationOutcome {
        do {
            return try await steps()
        } catch let error as OAuthError {
            return .redirect(AuthorizationRedirect(.refused(target.parsed.explaining(error)), to: target))
        } catch let fault as StoreFault where target.parsed.forbidsPages {
            let error = target.parsed.explaining(fault.authorizationError)
            return .redirect(AuthorizationRedirect(.refused(error, because: fault), to: target))
        } catch {
            return .problem(ClientRequestError(error, clientID: target.client.id))
        }
    }

    /// Returns the answer with an outcome; an error response uses up the pushed request.
    fileprivate func answer(
        _ outcome: AuthorizationOutcome, to request: IncomingRequest, at endpoint: Endpoint
    ) async -> EndpointHandler.Answer {
        switch outcome {
        case .page(let reply): return .reply(reply)
        case .problem(let error): return .refusal(Refusal(error, at: endpoint))
        case .redirect(let redirect):
            let isAfterForm = endpoint != .authorization
            let reply = redirect.reply(to: request, isAfterForm: isAfterForm, settings: settings)
            guard let error = redirect.error else { return .reply(reply) }
            if let pushed = redirect.target.parsed.pushed, await isAnswered(pushed) {
                return .refusal(ResponseTargetError.pushedRequest(of: pushed.clientID).refusal)
            }
            return .refusal(
                Refusal(
                    error, to: reply,
                    // A client in a frame counts with some errors, but not after a form.
                    refusedBecause: isAfterForm ? AuditEvent.Reason(error.code) : Refusal.reason(of: error),
                    client: redirect.target.client.id, fault: redirect.fault))
        }
    }

    /// Uses up a pushed request, so that the client gets one response at most; returns true if it has got one.
    private func isAnswered(_ pushed: PushedRequest) async -> Bool {
        do { return try await !store.removePushedRequest(pushed.digest) } catch {
            // The request expires by itself, and the client must not wait for its response.
            return false
        }
    }
}

extension StoreFault {
    /// The error for the client (RFC 6749 §4.1.2.1).
    fileprivate var authorizationError: OAuthError {
        switch self {
        case .unavailable, .unconfirmed, .unsupported:
            OAuthError(.temporarilyUnavailable, "the server is temporarily unavailable; try again later")
        case .damaged: OAuthError(.serverError, "the server cannot process this request")
        }
    }
}
