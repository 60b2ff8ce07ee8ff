import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The pages at which a user continues who has got back into the account.
///
/// A page carries the path and query of its destination. Only the pages from which a sign-in begins are accepted, so
/// the pages are no open redirectors (RFC 9700 §4.11).
struct RecoveryDestinations: Sendable {
    let issuer: Issuer
    let flow: AuthorizationFlow
    let authorization: AuthorizationPages
    let device: DevicePages
    /// The pages for signed-in users.
    let pages: LinkedPages

    private enum Destination {
        case authorization(pendingRequest: String)
        case device(pendingRequest: String)
        case console(to: String)
        case home
    }

    /// Continues at a destination after a form.
    ///
    /// An authorization request continues here: Chromium would block the redirect to the client that follows one to
    /// ``Endpoint/authorization``, because the CSP directive `form-action` counts for both.
    ///
    /// - Parameters:
    ///   - text: The path and query of the destination.
    ///   - session: The session of the user; nil if the user has to sign in there.
    ///   - request: The request with the form.
    ///   - now: The time of the request.
    func proceed(
        to text: String, as session: LiveSession?, in request: IncomingRequest, now: Date
    ) async -> AuthorizationOutcome {
        guard case .authorization(let pending) = parse(text),
            let parameters = try? FormParameters(parsing: pending, byteLimit: UserLink.Request.destinationLimit),
            // The request can have expired meanwhile, and its client can have changed.
            let target = try? await flow.receiveAgain(parameters, in: request, now: now)
        else { return .page(redirect(to: text, as: session, now: now)) }
        return await flow.outcome(at: target) {
            let exchange = AuthorizationExchange(
                authorization: try await flow.validate(target, now: now), request: request, now: now)
            try authorization.checkWebView(exchange)
            guard let session else { return .page(try authorization.signIn(exchange)) }
            return try await flow.proceed(exchange, session: session, signedInForThis: true, by: authorization)
        }
    }

    /// Returns the redirect to a destination after the sign-in.
    ///
    /// - Parameters:
    ///   - text: The path and query of the destination.
    ///   - session: The session of the user; nil if the user has to sign in there.
    ///   - lifetime: The time in seconds in which the browser requests the URL; as a rule, it does so at once.
    ///   - now: The time of the request.
    func redirect(
        to text: String, as session: LiveSession?, within lifetime: TimeInterval = 60, now: Date
    ) -> Reply {
        switch parse(text) {
        case .authorization(let pending):
            guard let session else { return .seeOther(issuer.authorizationURL(pendingRequest: pending)) }
            return authorization.afterSignIn(pending, session: session, within: lifetime, now: now)
        case .device(let pending):
            guard let session else { return .seeOther(device.address(pending)) }
            return device.afterSignIn(pending, session: session, within: lifetime, now: now)
        case .console(let path):
            return .seeOther(issuer.path + pages.signIn.path + "?" + FormParameters(["to": path]).encoded)
        case .home: return .seeOther(issuer.path + pages.home.path)
        }
    }

    /// Returns the path and query of a destination in the form in which pages carry it; empty for the home page.
    func canonical(_ text: String) -> String {
        switch parse(text) {
        case .authorization(let pending): Endpoint.authorization.path + "?" + pending
        case .device(let pending): Endpoint.device.path + "?" + pending
        case .console(let path): pages.signIn.path + "?" + FormParameters(["to": path]).encoded
        case .home: ""
        }
    }

    /// Reads a destination; the query is encoded again, so it contains no line break.
    private func parse(_ text: String) -> Destination {
        let path = text.prefix { $0 != "?" }
        guard
            let query = try? FormParameters(
                parsing: String(text.dropFirst(path.count + 1)), byteLimit: UserLink.Request.destinationLimit)
        else { return .home }
        switch path {
        case Endpoint.authorization.path:
            return .authorization(pendingRequest: AuthorizationPages.pendingRequest(query))
        case Endpoint.device.path:
            guard let code = try? UserCode(typed: (try? query.single("user_code")) ?? "") else { return .home }
            return .device(pendingRequest: DevicePages.pendingRequest(code))
        case pages.signIn.path:
            guard let to = try? query.single("to") else { return .home }
            return .console(to: to)
        default: return .home
        }
    }
}
