extension ServerProfile {
    /// The profiles that come with this product, in order of name.
    public static let builtIn: [ServerProfile] = [
        .auth0, .fotoware, .github, .google, .itwin, .microsoft, .okta, .slack, .zoho,
    ]

    /// The profile of a name, in whatever case; nil when none comes with this product.
    public static func named(_ name: String) -> ServerProfile? {
        let name = name.lowercased()
        return builtIn.first { $0.name == name }
    }
}
