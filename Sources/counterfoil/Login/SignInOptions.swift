import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol
import Foundation

/// The options that name the server, the client, the scope and the resources of a sign-in.
struct SignInOptions: ParsableArguments {
    @Option(
        name: .customLong("client-id"),
        help: ArgumentHelp(
            "The registered client ID. Without it, counterfoil registers itself if the server supports that.",
            valueName: "id"))
    var clientID: String?

    @Option(
        name: .customLong("client-metadata"),
        help: ArgumentHelp(
            "The URL of the client's metadata document, for servers that accept it as the client ID.",
            valueName: "url"))
    var clientMetadata: String?

    @Option(help: ArgumentHelp("The scope to request. Can be repeated.", valueName: "scope"))
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

    @Option(
        name: .customLong("client-secret-file"),
        help: ArgumentHelp("The file with the client secret, for vendors that issue one.", valueName: "file"))
    var clientSecretFile: String?

    @Flag(name: .customLong("client-secret-stdin"), help: "Read the client secret from a line of standard input.")
    var clientSecretFromStandardInput = false

    @Option(
        name: .customLong("client-key"),
        help: ArgumentHelp(
            "The file with the private key for client authentication (private_key_jwt): P-256 or Ed25519, mode 0600.",
            valueName: "file"))
    var clientKey: String?

    @Option(
        name: .customLong("client-key-id"),
        help: ArgumentHelp("The ID of that key at the server. (default: its thumbprint)", valueName: "id"))
    var clientKeyID: String?

    @Flag(
        name: .customLong("assume-pkce"),
        help: "Accept a server whose metadata omits PKCE with S256. Its documentation must promise it.")
    var assumesPKCE = false

    private static let vendors = ServerProfile.builtIn.map(\.name).joined(separator: ", ")

    func validate() throws {
        if let vendor, ServerProfile.named(vendor) == nil {
            throw ValidationError("--vendor is '\(vendor)'; it must be one of \(Self.vendors).")
        }
        if clientSecretFile != nil, clientSecretFromStandardInput {
            throw ValidationError("Pass the secret with --client-secret-file or --client-secret-stdin, not with both.")
        }
        if clientKey != nil, clientSecretFile != nil || clientSecretFromStandardInput {
            throw ValidationError("A client authenticates with a key or with a secret, not with both.")
        }
        if clientKeyID != nil, clientKey == nil {
            throw ValidationError("--client-key-id requires --client-key.")
        }
        if clientID == nil, clientSecretFile != nil || clientSecretFromStandardInput {
            throw ValidationError("A client secret requires a client ID; pass it with --client-id.")
        }
    }

    /// The server at which the user signs in, and the scope and resources to request.
    struct Place {
        var issuer: Issuer
        var vendor: VendorServer?
        var scope: Scope
        var resources: [Resource]
    }

    /// Determines the server from the command line.
    ///
    /// If the command line names no server, the function fetches the metadata of the API in the first --resource, which
    /// name the server.
    func place(_ server: String?) async throws -> Place {
        let resources = try resource.map { text in
            do { return try Resource(text) } catch { throw Failure(.usage, "\(error)") }
        }
        let scope: Scope
        do { scope = try Scope(lenient: self.scope.joined(separator: " ")) } catch { throw Failure(.usage, "\(error)") }
        if let vendor, let profile = ServerProfile.named(vendor) {
            let there: VendorServer
            do { there = try VendorServer(profile, at: server.map(Self.host)) } catch {
                throw Failure(.usage, "\(error)")
            }
            let usual = scope.isEmpty ? try? Scope(lenient: profile.defaultScope) : nil
            return Place(issuer: there.issuer, vendor: there, scope: usual ?? scope, resources: resources)
        }
        if let server {
            do {
                return Place(issuer: try Issuer(ofServer: server), scope: scope, resources: resources)
            } catch { throw Failure(.usage, "the issuer cannot be used: \(error)") }
        }
        guard let api = resource.first else {
            throw Failure(.usage, "name the server, such as https://id.example.com, or the API with --resource")
        }
        let found = try await ResourceDiscovery().metadata(of: api)
        guard let issuer = found.authorizationServers.first else {
            throw Failure(.unsafe, "the metadata of \(api) names no authorization server")
        }
        return Place(
            issuer: issuer, scope: scope.isEmpty ? found.scope ?? scope : scope,
            resources: [found.resource] + resources.dropFirst())
    }

    /// Returns the host and port of a URL; returns other text, such as a host, tenant or region, unchanged.
    private static func host(_ text: String) -> String {
        guard let uri = try? AbsoluteURI(parsing: text), let host = uri.host else { return text }
        return host + (uri.port.map { ":\($0)" } ?? "")
    }

    /// Returns the ways to identify the client: the client ID and metadata document of the options, and registration.
    func client(
        at place: Place, keeping store: any ClientRegistrationStore
    ) throws(Failure) -> ClientIdentification {
        var client = ClientIdentification()
        if let clientID {
            guard let known = ClientIdentifier(clientID) else {
                throw Failure(.usage, "the client ID is empty or contains invalid characters")
            }
            client.registered[place.issuer] = known
        }
        if let clientMetadata {
            do { client.metadataDocument = try ClientMetadataDocument(clientMetadata) } catch {
                throw Failure(.usage, "\(error)")
            }
        }
        client.registration = .init(as: "Counterfoil", storedIn: store)
        return client
    }

    /// Chooses the client authentication from the options and the vendor profile.
    ///
    /// Some vendors require a client secret, but not in the device flow. Therefore a missing secret is no error if
    /// `onDevice` is true.
    func authentication(at place: Place, onDevice: Bool) throws(Failure) -> ClientAuthentication {
        if let key = try key() { return .privateKey(key) }
        let method = place.vendor?.profile.authentication
        guard let secret = try secret() else {
            guard let method, method != .none, !onDevice, place.vendor?.isTheVendorsOwn != false else { return .none }
            throw Failure(
                .usage,
                "\(place.vendor?.profile.title ?? "this server") requires the client secret; pass it with"
                    + " --client-secret-file or --client-secret-stdin")
        }
        switch method {
        case .secretPost: return .secretPost(secret)
        case .secretBasic: return .secretBasic(secret)
        case nil: return .secretBasic(secret)
        case .some(.none):
            throw Failure(.usage, "\(place.vendor?.profile.title ?? "this server") accepts no client secret; omit it")
        }
    }

    private func key() throws(Failure) -> ClientKey? {
        guard let clientKey else { return nil }
        do { return try ClientKey(contentsOf: URL(fileURLWithPath: clientKey), id: clientKeyID) } catch {
            throw Failure(.usage, "\(error)")
        }
    }

    private func secret() throws(Failure) -> ClientSecret? {
        let text: String
        if let clientSecretFile {
            guard let data = FileManager.default.contents(atPath: clientSecretFile), data.count <= 4096 else {
                throw Failure(
                    .usage,
                    "cannot read the client secret: the file \(clientSecretFile) is missing, unreadable or too long")
            }
            text = String(decoding: data, as: UTF8.self)
        } else if clientSecretFromStandardInput {
            text = readLine(strippingNewline: true) ?? ""
        } else {
            return nil
        }
        guard let secret = ClientSecret(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Failure(.usage, "the client secret is empty or contains invalid characters")
        }
        return secret
    }
}

extension VendorServer {
    /// Whether the host is one of the vendor's own hosts, or the profile lists none.
    ///
    /// A server at another host, such as a test server, may require no client secret.
    fileprivate var isTheVendorsOwn: Bool {
        let known = Set(profile.hosts.values).union([profile.defaultHost].compactMap(\.self))
        return known.isEmpty || known.contains(host)
    }
}
