import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// One step of an authorization: the validated authorization request, and the HTTP request of the step.
///
/// The first step is the request from the client. Each later step is the posted form of a page.
struct AuthorizationExchange: Sendable {
    let authorization: ValidatedAuthorization
    /// The HTTP request of this step.
    let request: IncomingRequest
    let now: Date

    var client: RegisteredClient { authorization.client }
    /// The parameters of the authorization request as a query, which the pages carry in a hidden field.
    var pendingRequest: String { authorization.target.parsed.pendingRequest }
    /// Whether no page may be shown, because of `prompt=none`.
    var forbidsPages: Bool { authorization.target.parsed.forbidsPages }
    /// The destination of the authorization response, in terms that a user can understand.
    var destination: RedirectDestination { .init(authorization.redirectURI.uri, of: client.type) }
    /// The name of the client, which contains the host of an unregistered client.
    var clientName: DisplayName { client.displayName(at: destination) }

    /// Returns the error that ends the authorization: the problem for the user or, with `prompt=none`, the error for
    /// the client (OpenID Connect Core §3.1.2.6).
    func ending(_ problem: any Error, toClient error: OAuthError) -> any Error {
        forbidsPages ? error : problem
    }
}
