package import CounterfoilProtocol
package import CounterfoilStore

/// Examples of requested URIs that match a registered redirect URI, and of URIs that do not.
///
/// The first example is the registered URI. Each other example differs from it in one detail. The verdict on an
/// example comes from
/// ``RedirectURIMatching/verdict(on:of:asksForOpenID:issuer:callbackOrigin:allowsDevelopment:)``, which the
/// authorization endpoint uses too.
package enum RedirectURIPreview {
    /// A redirect URI that a request could contain.
    package struct Example: Sendable, Hashable {
        package let uri: String
        /// Whether the server would redirect to the requested URI.
        package let matches: Bool
        /// The reason why the requested URI matches or does not match.
        package let why: LocalizedText
    }

    /// Creates the examples for one redirect URI of a client.
    ///
    /// An example that matches another redirect URI of the client counts as a match. The client may be a draft that
    /// is not stored yet.
    package static func examples(
        for registered: RedirectURI, of client: RegisteredClient, issuer: Issuer?,
        callbackOrigin: CallbackOrigin? = nil, allowsDevelopment: Bool
    ) -> [Example] {
        var seen: Set<String> = []
        return variations(of: registered).compactMap { variation in
            guard seen.insert(variation.uri).inserted else { return nil }
            let verdict = RedirectURIMatching.verdict(
                on: variation.uri, of: client, asksForOpenID: false, issuer: issuer, callbackOrigin: callbackOrigin,
                allowsDevelopment: allowsDevelopment)
            switch verdict {
            case .matches(let match) where match.registered == registered:
                return Example(uri: variation.uri, matches: true, why: match.text)
            case .matches:
                return Example(
                    uri: variation.uri, matches: true, why: LocalizedText("redirect-uri.preview.also-registered"))
            case .refused(.notRegistered):
                return Example(uri: variation.uri, matches: false, why: variation.difference.text)
            case .refused(let refusal):
                return Example(uri: variation.uri, matches: false, why: refusal.text)
            }
        }
    }

    /// The registered redirect URI that is most similar to a requested one, with the differences.
    package struct Nearest: Sendable {
        /// The registered URI with the fewest differences.
        package let registered: RedirectURI
        /// The differences from the requested URI, for the developer.
        package let differences: [LocalizedText]
    }

    /// Finds the registered redirect URI that is most similar to a requested one.
    ///
    /// - Parameters:
    ///   - tried: The requested URI, which matches no redirect URI of the client. It may be one that no client can
    ///     register, such as http with another host than a loopback one.
    ///   - client: The client whose redirect URIs are compared.
    /// - Returns: The registered URI; nil if `tried` is not an absolute URI or the client has no redirect URI.
    package static func nearest(to tried: String, of client: RegisteredClient) -> Nearest? {
        guard let tried = try? AbsoluteURI(parsing: tried) else { return nil }
        let compared = client.redirectURIs.map {
            (registered: $0, differences: differences(between: $0, and: tried, of: client.type))
        }
        let distance = { (differences: [Difference]) in differences.reduce(0) { $0 + $1.weight } }
        let nearest = compared.min { distance($0.differences) < distance($1.differences) }
        return nearest.map { Nearest(registered: $0.registered, differences: $0.differences.map(\.text)) }
    }

    private static func differences(
        between registered: RedirectURI, and tried: AbsoluteURI, of type: ClientType
    ) -> [Difference] {
        let (ours, theirs) = (Parts(registered.uri), Parts(tried))
        var found: [Difference] = []
        func note(_ difference: Difference) { if !found.contains(difference) { found.append(difference) } }
        let areOnTheDevice =
            registered.loopbackAuthority != nil && (try? RedirectURI(tried.rawValue))?.loopbackAuthority != nil
        let portIsFree = areOnTheDevice && RedirectURIMatching.hasFreePort(registered, of: type)
        if ours.scheme != theirs.scheme {
            let schemes = [ours.scheme.lowercased(), theirs.scheme.lowercased()]
            note(
                schemes[0] == schemes[1]
                    ? .otherCase : schemes.sorted() == ["http", "https"] ? .otherScheme : .anotherScheme)
        }
        if (ours.host == nil) != (theirs.host == nil) {
            // A host follows `//`: `com.example.app:/callback` has no host, but `com.example.app://callback` has the
            // host `callback`. If only one URI has a host, comparing the other parts makes no sense.
            note(ours.scheme == theirs.scheme ? .doubleSlash : .otherHost)
            return found
        }
        if ours.host != theirs.host {
            note(
                ours.host?.lowercased() == theirs.host?.lowercased()
                    ? .otherCase : areOnTheDevice ? .otherNameOfTheDevice : .otherHost)
        }
        if ours.port != theirs.port, !portIsFree {
            let usual = [ours.port, theirs.port].compactMap(\.self) == [443] && ours.scheme == "https"
            note(usual ? .defaultPort : .otherPort)
        }
        if ours.path != theirs.path {
            if ours.path + "/" == theirs.path || ours.path == theirs.path + "/" {
                note(.trailingSlash)
            } else {
                note(ours.path.lowercased() == theirs.path.lowercased() ? .otherCase : .otherPath)
            }
        }
        if ours.query != theirs.query { note(.otherQuery) }
        return found
    }

    /// A difference between a requested URI and a registered one, as a message for the developer.
    private enum Difference: String, LocalizationKey {
        case same = "redirect-uri.preview.same"
        case otherPort = "redirect-uri.preview.other-port"
        case otherHost = "redirect-uri.preview.other-host"
        case otherNameOfTheDevice = "redirect-uri.preview.other-name-of-the-device"
        case otherScheme = "redirect-uri.preview.other-scheme"
        case anotherScheme = "redirect-uri.preview.another-scheme"
        case otherPath = "redirect-uri.preview.other-path"
        case trailingSlash = "redirect-uri.preview.trailing-slash"
        case otherCase = "redirect-uri.preview.other-case"
        case otherQuery = "redirect-uri.preview.other-query"
        case defaultPort = "redirect-uri.preview.default-port"
        case doubleSlash = "redirect-uri.preview.double-slash"

        /// The distance that the difference adds: a URI on the same host is nearer than one with the same path on
        /// another host.
        var weight: Int {
            switch self {
            case .same: 0
            case .trailingSlash, .otherCase, .defaultPort, .otherNameOfTheDevice, .doubleSlash: 1
            case .otherPort, .otherScheme, .otherQuery: 2
            case .otherPath: 4
            case .otherHost, .anotherScheme: 8
            }
        }
    }

    /// An example URI, and the detail in which it differs from the registered URI.
    private struct Variation {
        let uri: String
        let difference: Difference
    }

    private static func variations(of registered: RedirectURI) -> [Variation] {
        let parts = Parts(registered.uri)
        var variations = [Variation(uri: registered.rawValue, difference: .same)]
        func add(_ difference: Difference, _ change: (inout Parts) -> Void) {
            var changed = parts
            change(&changed)
            variations.append(Variation(uri: changed.text, difference: difference))
        }
        switch registered.kind {
        case .loopback(let host, let port):
            add(.otherPort) { $0.port = port == 51004 ? 51005 : 51004 }
            add(.otherPort) { $0.port = nil }
            add(.otherNameOfTheDevice) {
                $0.host = (host == .localhost ? LoopbackHost.ipv4 : .localhost).rawValue
            }
            add(.otherScheme) { $0.scheme = "https" }
        case .https(let host):
            if parts.port == nil { add(.defaultPort) { $0.port = 443 } }
            add(.otherPort) { $0.port = parts.port == 8443 ? nil : 8443 }
            add(.otherHost) { $0.host = "www.\(host)" }
            add(.otherCase) { $0.host = host.uppercased() }
            add(.otherScheme) { $0.scheme = "http" }
        case .privateUseScheme:
            if parts.host == nil { add(.doubleSlash) { $0.path = "/" + $0.path } }
        }
        add(.trailingSlash) { $0.path = $0.path.hasSuffix("/") ? String($0.path.dropLast()) : $0.path + "/" }
        add(.otherPath) { $0.path = ($0.path.hasSuffix("/") ? $0.path : $0.path + "/") + "other" }
        add(.otherCase) { $0.path = $0.path.uppercased() }
        add(.otherQuery) { $0.query = $0.query.map { "\($0)&added=1" } ?? "added=1" }
        if parts.query != nil { add(.otherQuery) { $0.query = nil } }
        return variations
    }

    /// The parts of a URI, which can be changed and put together again.
    private struct Parts {
        var scheme: String
        var host: String?
        var port: Int?
        var path: String
        var query: String?

        init(_ uri: AbsoluteURI) {
            scheme = uri.scheme
            host = uri.hasAuthority ? uri.host ?? "" : nil
            port = uri.port
            path = uri.path
            query = uri.query
        }

        var text: String {
            let authority = host.map { "//\($0)" + (port.map { ":\($0)" } ?? "") } ?? ""
            return "\(scheme):\(authority)\(path)" + (query.map { "?\($0)" } ?? "")
        }
    }
}
