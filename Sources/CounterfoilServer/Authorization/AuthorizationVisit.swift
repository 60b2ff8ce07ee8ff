import Foundation

/// One step of an authorization: the validated authorization request, and the HTTP request of the step.
///
/// The first step is the request from the client. Each later step is the posted form of a page.
struct AuthorizationVisit: Sendable {
    let authorization: ValidatedAuthorization
    /// The parameters of the authorization request as a query, which the pages carry in a hidden field.
    let carried: String
    /// The HTTP request of this step.
    let request: IncomingRequest
    let now: Date

    var client: RegisteredClient { authorization.client }
    /// The destination of the authorization response, in terms that a user can understand.
    var destination: ConsentPage.RedirectDestination { .init(authorization.redirectURI.uri, of: client.type) }
    /// The name of the client, which contains the host of an unregistered client.
    var applicationName: DisplayName { client.displayName(at: destination) }
}
