/// The part of a program in the refreshes of its sessions.
///
/// A server that rotates refresh tokens may reject the previous one at once. If a program ends between the request and
/// the storing of the response, the sign-in is lost. A program that ends by itself or by signals therefore has to know
/// of each refresh.
package struct RefreshHost: Sendable {
    /// Called before a refresh token is sent.
    package let begin: @Sendable () -> Void
    /// Called when the result is stored, or when the refresh has failed.
    package let end: @Sendable () -> Void
    /// Refreshes a token that is still valid in another process, and waits for its end at most this time; nil if the
    /// program lives long enough to do it itself.
    ///
    /// The first argument is the part of the sign-in for which the token is.
    package let refreshElsewhere: (@Sendable (AccessTarget?, Duration) async -> Void)?

    package init(
        begin: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void,
        refreshElsewhere: (@Sendable (AccessTarget?, Duration) async -> Void)? = nil
    ) {
        self.begin = begin
        self.end = end
        self.refreshElsewhere = refreshElsewhere
    }

    /// A program that runs until its user ends it, such as an app.
    package static let app = RefreshHost(begin: {}, end: {})
}
