/// The options of `login` that the configuration file contains for a profile; nil for one that is not set.
///
/// There is no option with a secret: the file contains the paths of files.
struct LoginSettings: Equatable, Sendable {
    var issuer: String?
    var vendor: String?
    var clientID: String?
    var clientMetadata: String?
    var scope: [String]?
    var resource: [String]?
    var api: [String]?
    var grant: Login.Grant?
    var dpop: Bool?
    var clientSecretFile: String?
    var clientKey: String?
    var clientKeyID: String?
    var clientKeyAlgorithm: String?
    var assertionAudience: ClientAuthenticationOptions.AssertionAudience?
    var par: SignInOptions.PushedRequests?
    var parameter: [String]?
    var trustedAudience: [String]?
    var assumesPKCE: Bool?
    var redirectURI: String?
    var browser: Login.Browser?
    var device: Bool?
    var loginHint: String?
    var deviceName: String?

    /// The options that are remembered; all others are of one sign-in only.
    private static let options: [RememberedOption] = [
        .init("api", \.api, \.api),
        .init("assertion-audience", \.assertionAudience, \.asked.clientAuthentication.assertionAudience),
        .init("assume-pkce", \.assumesPKCE, \.asked.assumesPKCE),
        .init("browser", \.browser, \.browser),
        .init("client-id", \.clientID, \.asked.clientID),
        .init("client-key", \.clientKey, \.asked.clientAuthentication.keyFile),
        .init("client-key-algorithm", \.clientKeyAlgorithm, \.asked.clientAuthentication.keyAlgorithm),
        .init("client-key-id", \.clientKeyID, \.asked.clientAuthentication.keyID),
        .init("client-metadata", \.clientMetadata, \.asked.clientMetadata),
        .init("client-secret-file", \.clientSecretFile, \.asked.clientAuthentication.secretFile),
        .init("device", \.device, \.device),
        .init("device-name", \.deviceName, \.deviceName),
        .init("dpop", \.dpop, \.asked.dpop),
        .init("grant", \.grant, \.grant),
        .init("issuer", \.issuer, \.issuer),
        .init("login-hint", \.loginHint, \.loginHint),
        .init("par", \.par, \.asked.par),
        .init("parameter", \.parameter, \.asked.parameter),
        .init("redirect-uri", \.redirectURI, \.redirectURI),
        .init("resource", \.resource, \.asked.resource),
        .init("scope", \.scope, \.asked.scope),
        .init("trusted-audience", \.trustedAudience, \.asked.trustedAudience),
        .init("vendor", \.vendor, \.asked.vendor),
    ]

    /// The long names of the options; `issuer` stands for the argument.
    static let names = options.map(\.name)

    init() {}

    /// Takes the options of a command line.
    init(_ login: Login) {
        for option in Self.options { option.take(login, &self) }
    }

    /// Whether the options name a server, a vendor or an API.
    var namesServer: Bool { issuer != nil || vendor != nil || resource != nil }

    /// Sets the options of a command line that it does not have, and that it does not exclude.
    func complete(_ login: inout Login) {
        var settings = self
        let authentication = login.asked.clientAuthentication
        if authentication.hasSecret || authentication.keyFile != nil {
            (settings.clientSecretFile, settings.clientKey, settings.clientKeyID) = (nil, nil, nil)
            (settings.clientKeyAlgorithm, settings.assertionAudience) = (nil, nil)
        }
        if login.device { (settings.redirectURI, settings.browser) = (nil, nil) }
        if login.redirectURI != nil || login.browser != nil { settings.device = nil }
        for option in Self.options { option.complete(settings, &login) }
    }

    /// The arguments of `login` that set the options, with the issuer first.
    var arguments: [String] {
        [issuer].compactMap(\.self)
            + Self.options.filter { $0.name != "issuer" }.flatMap { option in
                option.texts(self).map { $0.isEmpty ? "--\(option.name)" : "--\(option.name)=\($0)" }
            }
    }
}

extension LoginSettings: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: RememberedOption.Name.self)
        for option in Self.options { try option.decode(container, &self) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: RememberedOption.Name.self)
        for option in Self.options { try option.encode(self, &container) }
    }
}
