import ArgumentParser
import CounterfoilProtocol
import CounterfoilResource
import Foundation
import Hummingbird
import Logging
import NIOCore

/// The command `photo-library serve`, which runs the API.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the API.",
        discussion: """
            Example:
              photo-library serve --issuer http://127.0.0.1:8080 \\
                  --audience http://127.0.0.1:8090 --listen 127.0.0.1:8090

            With --client-id and --client-secret-file, the API introspects each token.
            A revoked token is then rejected before it expires. `counterfoil-server
            resource create` prints the client_id and the client_secret of an API.

            The API accepts tokens that are bound to a key (DPoP), and bearer tokens.
            With --bound-tokens-only, it refuses bearer tokens.

            With --allow-origin, a single-page app can call the API from a browser.
            """
    )

    @Option(help: "The URL of the authorization server whose tokens are accepted.", transform: Self.issuer)
    var issuer: Issuer

    @Option(help: "The URL of this API, which the audience of a token must contain.", transform: Self.audience)
    var audience: String

    @Option(help: "The HOST:PORT to listen on; port 0 selects a free port.", transform: ListenAddress.init)
    var listen: ListenAddress

    @Option(help: "The client_id of this API for token introspection.", transform: Self.clientID)
    var clientID: ClientIdentifier?

    @Option(help: "The file with the client_secret of this API.", transform: Self.secret(inFile:))
    var clientSecretFile: ClientSecret?

    @Option(
        help: ArgumentHelp(
            "The cache lifetime of introspection responses, in seconds. (default: 30)", valueName: "seconds"))
    var introspectionLifetime: Int?

    @Flag(help: "Refuse tokens that are not bound to a key.")
    var boundTokensOnly = false

    @Flag(name: .customLong("require-dpop-nonce"), help: "Refuse DPoP proofs without a nonce of this API.")
    var requireNonce = false

    @Option(
        help: "The URL under which clients reach this API, if it is not the origin of --audience.",
        transform: Self.publicURL)
    var publicURL: AbsoluteURI?

    @Option(
        help: "The origin of a single-page app that may call this API, such as http://localhost:5173.",
        transform: Self.origin)
    var allowOrigin: String?

    @Option(
        help: "The scope that reads photos, for an API whose scopes have other names.",
        transform: { try Scope(parsing: $0) })
    var readScope: Scope?

    func validate() throws {
        guard (clientID == nil) == (clientSecretFile == nil) else {
            throw ValidationError("Pass --client-id and --client-secret-file together.")
        }
        guard let introspectionLifetime else { return }
        guard clientID != nil else {
            throw ValidationError("--introspection-lifetime requires --client-id and --client-secret-file.")
        }
        guard (0...3600).contains(introspectionLifetime) else {
            throw ValidationError("--introspection-lifetime must be 0 to 3600 seconds.")
        }
    }

    /// The introspection configuration; nil if tokens are not introspected.
    private var introspection: TokenIntrospection? {
        guard let clientID, let clientSecretFile else { return nil }
        return TokenIntrospection(
            clientID: clientID, clientSecret: clientSecretFile, lifetime: .seconds(introspectionLifetime ?? 30))
    }

    /// The rules for bound tokens; this API runs in one process, so its random key for nonces suffices.
    private var proofs: ProofPolicy {
        ProofPolicy(
            requiresBoundTokens: boundTokensOnly, nonces: requireNonce ? .required() : .offered(), publicURL: publicURL)
    }

    /// The metadata of this API (RFC 9728); nil if clients do not reach it under its audience.
    var description: ResourceDescription? {
        get throws {
            guard publicURL == nil, audience != issuer.rawValue else { return nil }
            return ResourceDescription(
                scopes: try readScope ?? Scope(parsing: "photos.read"), name: "Photo library")
        }
    }

    func run() async throws {
        var logger = Logger(label: "photo-library")
        logger.logLevel = .warning
        let resourceServer = ResourceServer(
            issuer: issuer, audience: audience, introspection: introspection, proofs: proofs, realm: "photos",
            publishing: try description)
        let application = Application(
            router: try PhotoLibrary(
                resourceServer: resourceServer, allowedOrigin: allowOrigin,
                readScope: readScope
            ).router(),
            configuration: ApplicationConfiguration(
                address: .hostname(listen.host, port: listen.port), serverName: "photo-library"),
            onServerRunning: { channel in Self.announce(channel.localAddress) },
            logger: logger
        )
        do {
            try await application.runService()
        } catch let error as IOError {
            throw Failure(description: "cannot listen on \(listen): \(Self.words(for: error))")
        } catch is SocketAddressError.UnknownHost {
            throw Failure(description: "cannot listen on \(listen): cannot resolve the host name; use 127.0.0.1")
        }
    }

    /// The error thrown if the server cannot start; its description is the error message of the command.
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Prints the URL of the API without buffering, so that a reader of a pipe receives it immediately.
    private static func announce(_ address: SocketAddress?) {
        let host = address?.ipAddress.map { $0.contains(":") ? "[\($0)]" : $0 } ?? "?"
        let line = "photo-library listens on http://\(host):\(address?.port ?? 0)\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }

    private static func words(for error: IOError) -> String {
        switch error.errnoCode {
        case EADDRINUSE: "another program already listens on this port; stop it or choose another port"
        case EACCES: "this port requires more privileges; choose one above 1023"
        case EADDRNOTAVAIL: "this machine does not have this IP address; use 127.0.0.1"
        default: "\(error)"
        }
    }
}
