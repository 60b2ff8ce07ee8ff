import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// The options that name the server, the client, the scope and the resources of a sign-in.
struct SignInOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The registered client ID. Without it, counterfoil registers itself if the server supports that.",
            valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp(
            "The URL of the client's metadata document, for servers that accept it as the client ID.",
            valueName: "url"))
    var clientMetadata: String?

    @Option(
        help: ArgumentHelp(
            "The scope to request. The documentation of the API names scopes, and so may the metadata of the server "
                + "(scopes_supported). Can be repeated.",
            valueName: "scope"))
    var scope: [String] = []

    @Option(
        help: ArgumentHelp(
            "The URI of an API for which the token is requested. Without an issuer, the API names its server. "
                + "Can be repeated.",
            valueName: "uri"))
    var resource: [String] = []

    @Option(
        help: ArgumentHelp(
            "The vendor of the server, if it differs from the standard: \(SignInOptions.vendors).",
            valueName: "name"))
    var vendor: String?

    @Flag(help: "Bind the token to a key of this device, so that it cannot be used elsewhere (DPoP).")
    var dpop = false

    @OptionGroup var clientAuthentication: ClientAuthenticationOptions

    @Option(
        help:
            "Push the authorization request to the server (PAR) if it supports that and a browser opens here (the default), always or never."
    )
    var par: PushedRequests?

    /// The value of --par: the use of pushed authorization requests (RFC 9126).
    enum PushedRequests: String, ExpressibleByArgument, CaseIterable, Codable {
        case auto
        case always
        case never

        var option: NativeSignIn.PushedRequests {
            switch self {
            case .auto: .automatic
            case .always: .always
            case .never: .never
            }
        }
    }

    @Option(
        help: ArgumentHelp(
            "A further parameter of the authorization request, such as audience. Can be repeated.",
            valueName: "name=value"))
    var parameter: [String] = []

    @Option(
        help: ArgumentHelp(
            "An audience that ID tokens may name in addition to the client. Can be repeated.", valueName: "audience"))
    var trustedAudience: [String] = []

    @Flag(
        name: .customLong("assume-pkce"),
        help: "Accept a server whose metadata omits PKCE with S256. Its documentation must promise it.")
    var assumesPKCE = false

    private static let vendors = ServerProfile.builtIn.map(\.name).joined(separator: ", ")

    func validate() throws {
        if let vendor, ServerProfile.named(vendor) == nil {
            throw ValidationError("--vendor is '\(vendor)'; it must be one of \(Self.vendors).")
        }
        for text in parameter where !text.dropFirst().contains("=") {
            throw ValidationError("--parameter must have the form name=value; it is '\(text)'.")
        }
        let names = parameter.map { $0.prefix { $0 != "=" } }
        if Set(names).count != names.count { throw ValidationError("--parameter names a parameter twice.") }
    }

    /// The server at which the user signs in, and the scope and resources to request.
    struct Target {
        var issuer: Issuer
        var vendor: VendorServer?
        var scope: Scope
        var resources: [Resource]
    }

    /// Determines the server from the command line.
    ///
    /// If the command line names no server, the function fetches the metadata of the API in the first --resource, which
    /// name the server.
    func target(_ server: String?) async throws -> Target {
        let resources = try resource.map { text in try Failure.usage { try Resource(text) } }
        let scope = try Failure.usage { try Scope(lenient: self.scope.joined(separator: " ")) }
        if let vendor, let profile = ServerProfile.named(vendor) {
            let there = try Failure.usage { try VendorServer(profile, at: server.map(Self.host)) }
            let usual = scope.isEmpty ? try? Scope(lenient: profile.defaultScope) : nil
            return Target(issuer: there.issuer, vendor: there, scope: usual ?? scope, resources: resources)
        }
        if let server {
            let issuer = try Failure.usage("the issuer cannot be used: ") { try Issuer(ofServer: server) }
            return Target(issuer: issuer, scope: scope, resources: resources)
        }
        guard let api = resource.first else {
            throw Failure(.usage, "name the server, such as https://id.example.com, or the API with --resource")
        }
        let found = try await ResourceDiscovery().metadata(of: api)
        guard let issuer = found.authorizationServers.first else {
            throw Failure(.unsafe, "the metadata of \(api) names no authorization server")
        }
        return Target(
            issuer: issuer, scope: scope.isEmpty ? found.scope ?? scope : scope,
            resources: [found.resource] + resources.dropFirst())
    }

    /// Returns the host and port of a URL; returns other text, such as a host, tenant or region, unchanged.
    static func host(_ text: String) -> String {
        guard let uri = try? AbsoluteURI(parsing: text), let host = uri.host else { return text }
        return host + (uri.port.map { ":\($0)" } ?? "")
    }

    /// Returns the ways to identify the client: the client ID and metadata document of the options, and registration.
    func client(
        at target: Target, keeping store: any ClientRegistrationStore
    ) throws(Failure) -> ClientIdentification {
        var client = ClientIdentification()
        if let clientID {
            guard let known = ClientIdentifier(clientID) else {
                throw Failure(.usage, "the client ID is empty or contains invalid characters")
            }
            client.registered[target.issuer] = known
        }
        if let clientMetadata {
            client.metadataDocument = try Failure.usage { try ClientMetadataDocument(clientMetadata) }
        }
        client.registration = .init(as: "Counterfoil", storedIn: store)
        return client
    }

    /// Whether standard input supplies the client secret.
    var clientSecretFromStandardInput: Bool { clientAuthentication.secretFromStandardInput }

    /// Chooses the client authentication from the options and the vendor profile.
    ///
    /// Some vendors require a client secret, but not in the device flow. Therefore a missing secret is no error if
    /// `onDevice` is true.
    func authentication(at target: Target, onDevice: Bool) throws(Failure) -> ClientAuthentication {
        try clientAuthentication.authentication(at: target.vendor, requiresSecret: !onDevice)
    }

    /// Prepares the sign-in of a service, which has no user (RFC 6749 §4.4).
    func service(at target: Target) throws(Failure) -> ServiceSignIn {
        guard let clientID, let client = ClientIdentifier(clientID) else {
            throw Failure(.usage, "a service has a registered client ID; pass it with --client-id")
        }
        let authentication = try authentication(at: target, onDevice: false)
        guard authentication != .none else {
            throw Failure(
                .usage, "a service authenticates with a secret or a key; pass --client-secret-file or --client-key")
        }
        guard parameter.isEmpty else {
            throw Failure(.usage, "--parameter belongs to a request in the browser, which a service does not send")
        }
        var service = ServiceSignIn(
            issuer: target.issuer, clientID: client, authentication: authentication, scope: target.scope)
        service.resources = target.resources
        service.bindsTokens = dpop
        service.vendor = target.vendor
        return service
    }

    /// Sets the options of a sign-in that this group determines.
    func apply(to options: inout NativeSignIn.Options, at target: Target, onDevice: Bool) throws(Failure) {
        options.resources = target.resources
        options.bindsTokens = dpop
        options.authentication = try authentication(at: target, onDevice: onDevice)
        options.trustedAudiences = Set(trustedAudience)
        for text in parameter {
            let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            options.additionalParameters[String(halves[0])] = halves.count == 2 ? String(halves[1]) : ""
        }
    }
}
