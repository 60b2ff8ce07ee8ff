import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import TestSupport
import Testing

/// A scripted server that behaves as the profile of a vendor expects, under the vendor's host name.
struct PlayedVendor: Sendable, CustomTestStringConvertible {
    let profile: ServerProfile
    /// The host, tenant or region; nil for the default of the profile.
    let place: String?
    let script: ServerScript
    let scope: String

    var testDescription: String { profile.name }

    private init(_ vendor: ScriptedVendor, _ profile: ServerProfile, at place: String?, origin: String, scope: String) {
        self.profile = profile
        self.place = place
        var script = ServerScript.vendor(vendor)
        script.publicOrigin = origin
        // The issuer of Okta's own authorization server has no path.
        if vendor == .okta { script.issuerPath = "" }
        self.script = script
        self.scope = scope
    }

    static let fotoware = PlayedVendor(
        .fotoWare, .fotoware, at: "photos.example.com", origin: "https://photos.example.com", scope: "")
    static let itwin = PlayedVendor(.iTwin, .itwin, at: nil, origin: "https://ims.bentley.com", scope: "")
    static let zoho = PlayedVendor(
        .zoho, .zoho, at: nil, origin: "https://accounts.zoho.com", scope: "ZohoCRM.modules.ALL ZohoCRM.users.READ")
    static let google = PlayedVendor(.google, .google, at: nil, origin: "https://accounts.google.com", scope: "")
    static let microsoft = PlayedVendor(
        .microsoft, .microsoft, at: "9188040d-6c67-4c5b-b112-36a304b66dad",
        origin: "https://login.microsoftonline.com", scope: "")
    static let github = PlayedVendor(.gitHub, .github, at: nil, origin: "https://github.com", scope: "repo read:user")
    static let okta = PlayedVendor(
        .okta, .okta, at: "example.okta.com", origin: "https://example.okta.com", scope: "")
    static let auth0 = PlayedVendor(
        .auth0, .auth0, at: "example.eu.auth0.com", origin: "https://example.eu.auth0.com", scope: "")
    static let slack = PlayedVendor(
        .slack, .slack, at: nil, origin: "https://slack.com", scope: "users:read files:read")

    static let all = [fotoware, itwin, zoho, google, microsoft, github, okta, auth0, slack]

    /// The secret of the scripted client, if the vendor requires one.
    var authentication: ClientAuthentication {
        get throws {
            let secret = try #require(ClientSecret(script.clients.secret))
            return switch profile.authentication {
            case .none: .none
            case .secretPost: .secretPost(secret)
            case .secretBasic: .secretBasic(secret)
            }
        }
    }

    /// Runs a test with the server.
    func run(
        changing change: (inout ServerScript) -> Void = { _ in },
        _ body: @escaping @Sendable (ScriptedAuthorizationServer) async throws -> Void
    ) async throws {
        var script = script
        change(&script)
        try await ScriptedAuthorizationServer.run(script) { server in try await body(server) }
    }

    /// Creates a sign-in at the vendor.
    ///
    /// The browser and the connections are directed to the scripted server. `changed` replaces the vendor's profile.
    func signIn(with changed: ServerProfile? = nil, over transport: LeadingTransport) throws -> NativeSignIn {
        var signIn = NativeSignIn(
            at: try VendorServer(changed ?? profile, at: place), clientID: try #require(ClientIdentifier("lightbox")),
            scope: try Scope(lenient: scope))
        signIn.options.authentication = try authentication
        signIn.transport = transport
        signIn.browser = ScriptedBrowser(over: transport)
        signIn.timeout = .seconds(60)
        // Without this, all sign-ins in one process would need different redirect URIs.
        signIn.redirectURIUses = RedirectURIUses()
        return signIn
    }
}
