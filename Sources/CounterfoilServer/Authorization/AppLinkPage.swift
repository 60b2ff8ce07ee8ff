/// What a browser shows at an address that an app has claimed, when the platform did not open the app (RFC 8252 §7.2).
///
/// Nothing of the request stands on it: an answer that strayed here must not be seen by anybody else.
public struct AppLinkPage: Sendable, Hashable {
    /// The app that the address belongs to.
    public var applicationName: DisplayName

    /// Makes the page.
    public init(applicationName: DisplayName) {
        self.applicationName = applicationName
    }
}
