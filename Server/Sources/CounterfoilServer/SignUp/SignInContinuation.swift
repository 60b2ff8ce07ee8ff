@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The way from a page that follows the sign-in to the request for which the user has signed in.
struct SignInContinuation: Sendable {
    let flow: AuthorizationFlow
    let pages: AuthorizationPages
    let devicePages: DevicePages
    let sessions: SessionManager
    let signInPath: String

    /// Continues with the request in the field `request` of a form whose ticket was checked.
    ///
    /// - Parameters:
    ///   - door: The part of the server at which the user continues.
    ///   - posted: The form.
    ///   - isSignedInForThis: Whether the user has signed in for the request.
    ///   - request: The HTTP request with the form.
    ///   - now: The time of the HTTP request.
    func proceed(
        to door: SignInDoor, _ posted: PageForm, isSignedInForThis: Bool, _ request: IncomingRequest, now: Date
    ) async throws -> AuthorizationOutcome {
        let pendingRequest = try posted.value("request")
        guard let session = try await sessions.current(request, now: now) else {
            return .page(.seeOther(address(pendingRequest, at: door)))
        }
        switch door {
        case .console: return .page(.seeOther(signIn(to: pendingRequest)))
        case .device:
            return .page(
                devicePages.afterSignIn(
                    pendingRequest, session: session, signedInForThis: isSignedInForThis, within: 60, now: now))
        case .authorization:
            let target = try await flow.receiveAgain(try posted.pendingRequestParameters(), in: request, now: now)
            return await flow.outcome(at: target) {
                let exchange = AuthorizationExchange(
                    authorization: try await flow.validate(target, now: now), request: request, now: now)
                try pages.checkWebView(exchange)
                return try await flow.proceed(
                    exchange, session: session, signedInForThis: isSignedInForThis, by: pages)
            }
        }
    }

    /// Returns the URL at which the user can open the request of a page again.
    func address(_ pendingRequest: String, at door: SignInDoor) -> String {
        switch door {
        case .console: signIn(to: pendingRequest)
        case .device: devicePages.address(pendingRequest)
        case .authorization: flow.settings.issuer.authorizationURL(pendingRequest: pendingRequest)
        }
    }

    /// Returns the path that leads to a page of the console, after a sign-in if one is needed.
    func signIn(to page: String) -> String {
        page.isEmpty ? signInPath : signInPath + "?" + FormParameters(["to": page]).encoded
    }
}
