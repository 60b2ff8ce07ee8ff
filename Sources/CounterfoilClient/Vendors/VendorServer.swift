@_spi(Counterfoil) public import CounterfoilProtocol

/// A vendor's server: a profile and the host of one customer or region.
///
/// The profile is stored with the credentials, so that a refresh uses the same server as the sign-in.
public struct VendorServer: Sendable, Hashable {
    /// The profile that describes the vendor's servers.
    public let profile: ServerProfile
    /// The text that replaces `{host}` in the profile, in lower case: the host, with a port if one was passed.
    ///
    /// For Microsoft, it is the tenant.
    public let host: String
    /// The issuer of the server.
    ///
    /// For a server without metadata, the profile contains the issuer.
    public let issuer: Issuer

    private let addresses: ServerProfile.Addresses?

    /// Whether the endpoint URLs come from the metadata of the server, and not from the profile.
    var publishesMetadata: Bool { addresses == nil }

    /// Whether the host can be one of the vendor's: the profile lists it, or lists none because each customer has one.
    ///
    /// Any other host is that of a server to which the clients of the vendor have moved, or of a test.
    package var isVendorsOwn: Bool { isListed || profile.listedHosts.isEmpty }

    /// Whether the profile lists the host.
    private var isListed: Bool { profile.listedHosts.contains(host) }

    /// The reason why no server can be created from a profile and a host.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The vendor has a separate host for each customer, but no host was passed; the value is the profile's title.
        case noHost(profile: String)
        /// The passed text is neither a host name nor a region of the profile.
        case badHost(String)
        /// A URL in the profile is invalid; the value is the name of its field, such as `issuer`.
        case badURL(String)

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .noHost(let profile):
                "\(profile) has a server for each customer; name yours, such as photos.example.com"
            case .badHost(let host): "\"\(host)\" is not a host name, nor a region of this vendor"
            case .badURL(let name): "the \(name) in the profile is not a valid URL"
            }
        }
    }

    /// Creates the server at a host or in a region of the profile.
    ///
    /// `place` is a host name or a key of ``ServerProfile/hosts``. If it is nil, the server is at the profile's default
    /// host.
    public init(_ profile: ServerProfile, at place: String? = nil) throws(Refusal) {
        guard let place = place ?? profile.defaultHost else { throw .noHost(profile: profile.title) }
        let host = (profile.hosts[place] ?? place).lowercased()
        guard Self.isHost(host) else {
            throw .badHost(String(place.prefix(100)).strippingControlCharacters)
        }
        func filled(_ text: String) -> String { text.replacing("{host}", with: host) }
        let issuer: String
        switch profile.location {
        case .issuer(let text):
            issuer = filled(text)
            addresses = nil
        case .addresses(var known):
            known.issuer = filled(known.issuer)
            known.authorization = filled(known.authorization)
            known.token = filled(known.token)
            known.revocation = known.revocation.map(filled)
            known.userInfo = known.userInfo.map(filled)
            known.deviceAuthorization = known.deviceAuthorization.map(filled)
            issuer = known.issuer
            addresses = known
        }
        do { self.issuer = try Issuer(ofServer: issuer) } catch { throw .badURL("issuer") }
        self.profile = profile
        self.host = host
    }

    /// Returns true if a text is a host name: labels of letters, digits and hyphens, and optionally a port.
    ///
    /// Other characters, such as `/` or `@`, are rejected. In place of `{host}`, they could change more of the URL than
    /// its host.
    private static func isHost(_ text: String) -> Bool {
        guard text.utf8.count <= 253 else { return false }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.count == 1 || Int(parts[1]).map({ (1...65535).contains($0) }) == true else {
            return false
        }
        return parts[0].split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
        }
    }

    /// Returns the configuration of the server, with endpoint URLs from the profile or from the server's metadata.
    ///
    /// At a host that the profile lists, the profile counts. At any other host, a server that publishes metadata is one
    /// of the standards: the result has no ``AuthorizationServerConfiguration/vendor`` and no deviations. Only if it
    /// publishes none, the endpoint URLs and deviations of the profile count there. A profile that lists no hosts
    /// and has no endpoint URLs, such as Okta's, counts everywhere.
    public func configuration(
        transport: any HTTPTransport = .standard
    ) async throws(SignInError) -> AuthorizationServerConfiguration {
        if publishesMetadata ? !isVendorsOwn : !isListed {
            do throws(SignInError) {
                return try await MetadataDiscovery(transport: transport).configuration(
                    of: issuer, forOpenID: isForOpenID)
            } catch {
                guard !publishesMetadata, error.meansNoMetadata else { throw error }
            }
        }
        var configuration = try await configurationOfProfile(transport: transport)
        configuration.vendor = self
        return configuration
    }

    private var isForOpenID: Bool { profile.defaultScope.split(separator: " ").contains("openid") }

    private func configurationOfProfile(
        transport: any HTTPTransport
    ) async throws(SignInError) -> AuthorizationServerConfiguration {
        guard let addresses else {
            return try await MetadataDiscovery(transport: transport).configuration(
                of: issuer, forOpenID: isForOpenID, skippingPKCEMetadataCheck: profile.assumesPKCE,
                behavior: profile.behavior)
        }
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.authorizationEndpoint = addresses.authorization
        metadata.tokenEndpoint = addresses.token
        metadata.revocationEndpoint = addresses.revocation
        metadata.userInfoEndpoint = addresses.userInfo
        metadata.deviceAuthorizationEndpoint = addresses.deviceAuthorization
        do {
            return try AuthorizationServerConfiguration(
                metadata, of: issuer, skippingPKCEMetadataCheck: true, behavior: profile.behavior)
        } catch {
            throw .unusable("the profile \(profile.name) cannot be used: \(error)")
        }
    }
}

extension ServerProfile {
    /// The hosts of the vendor; empty if each customer has a host.
    fileprivate var listedHosts: Set<String> { Set(hosts.values).union([defaultHost].compactMap(\.self)) }
}

extension SignInError {
    /// Whether the server responded, and publishes no metadata that can be used.
    ///
    /// False for a temporary failure, because the server may publish metadata nevertheless.
    fileprivate var meansNoMetadata: Bool {
        switch self {
        case .unusable, .unsafe(.metadata), .unsafe(.redirected), .unsafe(.transport(.tooLarge)): true
        default: false
        }
    }
}
