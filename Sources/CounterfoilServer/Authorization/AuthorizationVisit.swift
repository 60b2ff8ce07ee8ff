import Foundation

/// A valid authorization request at one step on its way through the pages of this server.
struct AuthorizationVisit: Sendable {
    let authorization: ValidatedAuthorization
    /// The authorization request as the pages hold it, as a query.
    let carried: String
    /// The HTTP request of this step.
    let request: IncomingRequest
    let now: Date

    var client: RegisteredClient { authorization.client }
}
