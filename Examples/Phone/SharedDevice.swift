import CounterfoilClient
import UIKit

/// A sign-in on a device that several users share.
enum SharedDevice {
    /// Returns redirect URIs for pages that start without the cookies of the browser, over a window of the app.
    @MainActor static func redirect(over window: UIWindow) throws -> RedirectOption {
        let scheme = try RedirectOption.webAuthentication(
            "com.example.photos:/callback", prefersEphemeralSession: true, anchor: { window })
        return try .webAuthentication(
            "https://photos-app.example/callback", prefersEphemeralSession: true, anchor: { window }
        ).otherwise(scheme)
    }
}
