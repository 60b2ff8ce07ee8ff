public import CounterfoilProtocol

/// A vendor's server: a profile and the host of one customer or region.
///
/// The profile is kept with the credentials, so that a refresh finds the server as the sign-in did.
public struct VendorServer: Sendable, Hashable {
    /// How the vendor's servers behave.
    public let profile: ServerProfile
    /// Which of them it is, in lower case, with a port where it has one.
    public let host: String
    /// What stands for the server: its issuer, or for a server without metadata the name of the profile's.
    public let issuer: Issuer

    private let addresses: ServerProfile.Addresses?

    /// Why a profile and a host do not make a server.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Every customer of this vendor has a host of their own, and none is named.
        case noHost(profile: String)
        /// What is named is no host.
        case badHost(String)
        /// An address of the profile is not one; the value is its wire name.
        case badAddress(String)

        /// What happened and what to do, safe to show.
        public var description: String {
            switch self {
            case .noHost(let profile):
                "\(profile) has a server for each customer: name yours, such as photos.example.com"
            case .badHost(let host): "\"\(host)\" is not a host name, nor a region of this vendor"
            case .badAddress(let name): "the \(name) of the profile is not an address"
            }
        }
    }

    /// The server at a host, or in a region that the profile names; without either at the profile's own.
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
        do { self.issuer = try Issuer(ofServer: issuer) } catch { throw .badAddress("issuer") }
        self.profile = profile
        self.host = host
    }

    /// Labels of letters, digits and hyphens, and perhaps a port: nothing that could make another address of a template.
    private static func isHost(_ text: String) -> Bool {
        guard text.utf8.count <= 253 else { return false }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.count == 1 || Int(parts[1]).map({ (1...65535).contains($0) }) == true else {
            return false
        }
        return parts[0].split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy {
                    switch $0 {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                        UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
        }
    }

    /// Where everything of the server is: what the profile says, or what the server's metadata say.
    public func configuration(
        transport: any HTTPTransport = .standard
    ) async throws(SignInError) -> AuthorizationServerConfiguration {
        var configuration = try await found(transport: transport)
        configuration.vendor = self
        return configuration
    }

    private func found(transport: any HTTPTransport) async throws(SignInError) -> AuthorizationServerConfiguration {
        guard let addresses else {
            return try await MetadataDiscovery(transport: transport).configuration(
                of: issuer, skippingPKCEMetadataCheck: profile.assumesPKCE, behavior: profile.behavior)
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

/// The form in which a token store keeps it.
extension VendorServer: Codable {
    private enum CodingKeys: String, CodingKey {
        case profile
        case host
    }

    /// Reads the form of a token store.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            try values.decode(ServerProfile.self, forKey: .profile), at: try values.decode(String.self, forKey: .host))
    }

    /// Writes the form of a token store.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(profile, forKey: .profile)
        try values.encode(host, forKey: .host)
    }
}
