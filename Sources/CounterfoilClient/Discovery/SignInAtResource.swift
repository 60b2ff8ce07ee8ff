@_spi(Counterfoil) public import CounterfoilProtocol
import Crypto

extension NativeSignIn {
    /// Prepares a sign-in for an API, such as an MCP server, whose metadata name the authorization server.
    ///
    /// RFC 9728: the client asks the API without a token and reads the metadata that the challenge names. The first
    /// authorization server of the metadata becomes ``issuer``, and the API becomes the only one of
    /// ``Options/resources``, so that the token goes nowhere else.
    ///
    /// - Parameters:
    ///   - url: The URL of the API: https, or http on a loopback host.
    ///   - client: The ways to obtain a client identifier at a server that is not known in advance.
    ///   - scope: The scope to request; if it is empty, the one that the API asks for.
    ///   - transport: The HTTP client for the requests to the API and of the sign-in.
    /// - Throws: ``SignInError/unusable(_:)`` if the API or its metadata name no usable server.
    public init(
        resource url: String, client: ClientIdentification, scope: Scope = Scope(),
        transport: any HTTPTransport = .standard
    ) async throws(SignInError) {
        let found = try await ResourceDiscovery(transport: transport).metadata(of: url)
        guard let issuer = found.authorizationServers.first else { throw .unsafe(.resource(.noServer)) }
        self.init(issuer: issuer, client: client, scope: scope.isEmpty ? found.scope ?? scope : scope)
        self.transport = transport
        options.resources = [found.resource]
    }
}

extension ProfileName {
    /// The name for the sign-in at an API, for apps that call many APIs, each with a token of its own.
    ///
    /// The name is the host of the API, cut at 47 characters, and a digest of the whole URI, as in
    /// `mcp.example.com-Wv3qk0aXyT1bN2mZ`. Equal resource indicators have equal names.
    public init(for resource: Resource) {
        let host = (try? AbsoluteURI(parsing: resource.rawValue))?.host ?? ""
        let readable = host.lowercased().utf8.prefix(47).filter { $0.isLetterOrDigit || "-.".utf8.contains($0) }
        let digest = Base64URL.encode(SHA256.hash(data: Array(resource.normalized.utf8)).prefix(12))
        self.init(known: "\(String(decoding: readable, as: UTF8.self))-\(digest)")
    }
}
