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
}
