import CounterfoilProtocol

extension ServerProfile {
    /// The profiles of this package, sorted by name.
    public static let builtIn: [ServerProfile] = [
        .auth0, .fotoware, .github, .google, .itwin, .microsoft, .okta, .slack, .zoho,
    ]

    /// Returns the built-in profile with a name, ignoring case; nil if there is none.
    public static func named(_ name: String) -> ServerProfile? {
        let name = name.lowercased()
        return builtIn.first { $0.name == name }
    }

    /// Returns the built-in profile whose default host is the server with an issuer; nil if there is none.
    static func ofIssuer(_ issuer: Issuer) -> ServerProfile? {
        builtIn.first { profile in
            profile.defaultHost != nil && (try? VendorServer(profile))?.issuer == issuer
        }
    }
}
