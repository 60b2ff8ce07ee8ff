/// The page at the claimed https redirect URI of an app, shown when the platform did not open the app (RFC 8252
/// §7.2).
///
/// The page shows no part of the request, because the query may contain an authorization response for the app.
package struct AppLinkPage: Sendable, Hashable {
    /// The name of the client that owns the redirect URI.
    package var clientName: DisplayName

    package init(clientName: DisplayName) {
        self.clientName = clientName
    }
}

extension AppLinkPage: Page { package static let template = "app-link" }
