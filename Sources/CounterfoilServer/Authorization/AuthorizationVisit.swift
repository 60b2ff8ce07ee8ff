import Foundation

/// A valid authorization request, together with the HTTP request that is processed for it: the first request,
/// or the form of a page.
struct AuthorizationVisit: Sendable {
    let authorization: ValidatedAuthorization
    /// The parameters of the authorization request as a query, which the pages carry in a hidden field.
    let carried: String
    /// The HTTP request of this step.
    let request: IncomingRequest
    let now: Date

    var client: RegisteredClient { authorization.client }
}
