package import CounterfoilProtocol
package import CounterfoilStore

/// A check that the host of a claimed https redirect URI lists the app in its association file (RFC 8252 §7.2).
///
/// Apple's systems read the file `apple-app-site-association` of the host, and Android reads `assetlinks.json`.
/// If the file does not list the app, these systems open the URL in the browser instead of the app. Older
/// systems do not check the file, so any app can claim the URL there.
package struct AssociationCheck: Sendable {
    /// An app that the association file of the host must name.
    package enum App: Sendable, Hashable {
        case apple(AppleApp)
        case android(AndroidApp)

        /// The path of the association file for the platform of the app.
        package var path: String {
            switch self {
            case .apple: "/.well-known/apple-app-site-association"
            case .android: "/.well-known/assetlinks.json"
            }
        }
    }

    /// The maximum size of an association file in bytes; Apple's systems have the same limit.
    package static let byteLimit = 128 * 1024

    private let fetcher: any AssociationFetcher
    private let request: RequestContext?

    /// Creates a check for one request; nil for none.
    package init(fetcher: any AssociationFetcher, for request: RequestContext?) {
        self.fetcher = fetcher
        self.request = request
    }

    /// Fetches the association file from the host of a redirect URI and checks that it names an app.
    ///
    /// - Returns: The verdict; nil if the URI is not an https URI.
    package func verdict(on app: App, at redirectURI: RedirectURI) async -> AssociationVerdict? {
        await verdicts(on: [app], at: redirectURI).first
    }

    /// Fetches the association file from the host of a redirect URI once and checks that it names several apps.
    ///
    /// - Parameters:
    ///   - apps: The apps, all of the same platform.
    ///   - redirectURI: The redirect URI that the apps claim.
    /// - Returns: A verdict for each app, in the same order; empty if the URI is not an https URI.
    package func verdicts(on apps: [App], at redirectURI: RedirectURI) async -> [AssociationVerdict] {
        guard case .https(let host) = redirectURI.kind, let path = apps.first?.path else { return [] }
        // Apple's systems and Android always fetch the file from port 443, so a URI with another port cannot be
        // verified.
        guard redirectURI.uri.port == nil || redirectURI.uri.port == 443,
            let url = try? AbsoluteURI(parsing: "https://\(host.lowercased())\(path)")
        else { return apps.map { _ in .notFetched(.unsuitableURL) } }
        let fetched = await fetcher.fetch(url, for: request)
        return apps.map { Self.verdict(on: $0, from: fetched) }
    }

    /// Checks a fetched association file, or reports why it could not be fetched; sends no request.
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

extension OutboundFailure {
    /// The value of the placeholder `limit`, in KiB, for ``tooLarge``; empty for other failures.
    package var values: [String: LocalizedText.Value] {
        self == .tooLarge ? ["limit": .number(AssociationCheck.byteLimit / 1024)] : [:]
    }
}
