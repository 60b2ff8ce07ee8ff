public import CounterfoilProtocol

/// Whether the host of a claimed https redirect URI says that the app is its own (RFC 8252 §7.2).
///
/// Apple's systems read `apple-app-site-association` there, Android reads `assetlinks.json`; without it they open the
/// address in the browser instead of the app, and anybody's app could claim it on older systems.
public struct AssociationCheck: Sendable {
    /// The app that should be named.
    public enum App: Sendable, Hashable {
        /// An app of Apple's platforms.
        case apple(AppleApp)
        /// An app of Android.
        case android(AndroidApp)

        /// Where the host names it.
        public var path: String {
            switch self {
            case .apple: "/.well-known/apple-app-site-association"
            case .android: "/.well-known/assetlinks.json"
            }
        }
    }

    /// The most bytes of a file; Apple takes no more either.
    public static let byteLimit = 128 * 1024

    private let fetcher: any AssociationFetcher

    /// Makes a check that gets files in some way.
    public init(fetcher: any AssociationFetcher) {
        self.fetcher = fetcher
    }

    /// Gets the file of the host of a redirect URI and judges it; nil when the URI is not an https address.
    public func verdict(on app: App, at redirectURI: RedirectURI) async -> AssociationVerdict? {
        await verdicts(on: [app], at: redirectURI).first
    }

    /// Gets the file of the host of a redirect URI once and judges what it says of each app of one platform; nothing when
    /// the URI is not an https address.
    public func verdicts(on apps: [App], at redirectURI: RedirectURI) async -> [AssociationVerdict] {
        guard case .https(let host) = redirectURI.kind, let path = apps.first?.path else { return [] }
        // The systems look at the usual port, whatever the address says.
        guard redirectURI.uri.port == nil || redirectURI.uri.port == 443,
            let url = try? AbsoluteURI(parsing: "https://\(host.lowercased())\(path)")
        else { return apps.map { _ in .notFetched(.unsuitableURL) } }
        let fetched = await fetcher.fetch(url)
        return apps.map { Self.verdict(on: $0, from: fetched) }
    }

    /// Judges what came.
    public static func verdict(on app: App, from fetch: AssociationFetch) -> AssociationVerdict {
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
