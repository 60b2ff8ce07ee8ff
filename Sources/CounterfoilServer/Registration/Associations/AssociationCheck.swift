package import CounterfoilProtocol

/// The check whether the host of a claimed https redirect URI associates the app with it (RFC 8252 §7.2).
///
/// Apple's systems read `apple-app-site-association` there, Android reads `assetlinks.json`. Without the
/// file they open the URL in the browser instead of the app, and on older systems any app could claim it.
package struct AssociationCheck: Sendable {
    /// The app that the file should name.
    package enum App: Sendable, Hashable {
        /// An app on Apple's platforms.
        case apple(AppleApp)
        /// An Android app.
        case android(AndroidApp)

        /// The path of the association file.
        package var path: String {
            switch self {
            case .apple: "/.well-known/apple-app-site-association"
            case .android: "/.well-known/assetlinks.json"
            }
        }
    }

    /// The most bytes of a file; Apple has the same limit.
    package static let byteLimit = 128 * 1024

    private let fetcher: any AssociationFetcher

    /// Creates a check that fetches files with a fetcher.
    package init(fetcher: any AssociationFetcher) {
        self.fetcher = fetcher
    }

    /// Fetches the file of a redirect URI's host and checks it; nil if the URI is not an https URI.
    package func verdict(on app: App, at redirectURI: RedirectURI) async -> AssociationVerdict? {
        await verdicts(on: [app], at: redirectURI).first
    }

    /// Fetches the file of a redirect URI's host once and checks it for each app of one platform.
    ///
    /// - Returns: A verdict for each app; empty if the URI is not an https URI.
    package func verdicts(on apps: [App], at redirectURI: RedirectURI) async -> [AssociationVerdict] {
        guard case .https(let host) = redirectURI.kind, let path = apps.first?.path else { return [] }
        // The systems fetch from port 443, whatever port the URI has.
        guard redirectURI.uri.port == nil || redirectURI.uri.port == 443,
            let url = try? AbsoluteURI(parsing: "https://\(host.lowercased())\(path)")
        else { return apps.map { _ in .notFetched(.unsuitableURL) } }
        let fetched = await fetcher.fetch(url)
        return apps.map { Self.verdict(on: $0, from: fetched) }
    }

    /// Checks a fetched file.
    package static func verdict(on app: App, from fetch: AssociationFetch) -> AssociationVerdict {
        switch fetch {
        case .failed(let failure): return .notFetched(failure)
        case .answered(status: 200, let contentType, let body):
            guard body.count <= byteLimit else { return .notFetched(.tooLarge) }
            guard isJSON(contentType) else { return .otherContentType }
            return switch app {
            case .apple(let app): FetchedAppleFile.verdict(on: app, in: body)
            case .android(let app): FetchedAndroidFile.verdict(on: app, in: body)
            }
        case .answered(status: 300...399, _, _): return .redirects
        case .answered(status: 404, _, _), .answered(status: 410, _, _): return .notFound
        case .answered(let status, _, _): return .otherStatus(status)
        }
    }

    private static func isJSON(_ contentType: String?) -> Bool {
        contentType.flatMap { ParameterizedValue(parsing: Array($0.utf8)) }?.value == "application/json"
    }
}
