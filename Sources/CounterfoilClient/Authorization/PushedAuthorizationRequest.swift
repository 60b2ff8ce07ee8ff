import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The request that pushes an authorization request to the server before the browser opens (RFC 9126 §2).
struct PushedAuthorizationRequest: Sendable {
    let server: AuthorizationServerConfiguration
    let clientID: ClientIdentifier
    let authentication: ClientAuthentication
    let prover: DPoPProver?
    let transport: any HTTPTransport

    /// The maximum length of `request_uri`, in bytes.
    private static let referenceLimit = 1024

    /// The reference by which the server identifies a pushed request (RFC 9126 §2.2).
    struct Reference: Sendable {
        /// `request_uri`.
        let uri: String
        /// `expires_in`: the time in which the browser must open the request; nil if the server does not say it.
        let lifetime: Duration?
    }

    /// Pushes a request and returns the reference to it.
    func push(_ request: FormParameters) async throws(SignInError) -> Reference {
        guard let endpoint = server.pushedAuthorizationRequestEndpoint else {
            throw .unusable("\(server.issuer) does not support pushed authorization requests")
        }
        // RFC 9126 §2.1: the form must contain `client_id` exactly once, with `client_secret_basic` too.
        let body = try await EndpointRequest(
            form: request, of: clientID, by: authentication, at: server, prover: prover
        ).send(to: endpoint, through: transport)
        guard let members = try? JSONReader.object(body, acceptingHugeNumbers: true),
            case .string(let uri) = members["request_uri"],
            (1...Self.referenceLimit).contains(uri.utf8.count)
        else { throw .unsafe(.tokenResponse(.unreadable)) }
        let seconds = members["expires_in"]?.seconds(in: 1...Int(Int32.max))
        return Reference(uri: uri, lifetime: seconds.map { .seconds($0) })
    }
}

extension SignInError {
    /// Whether the client may send the request through the browser after a pushed request failed with this error.
    ///
    /// True if the endpoint does not work, or does not accept this client. Some servers announce the endpoint without
    /// serving it, or serve it only to clients that authenticate. False if the server rejected a parameter, because the
    /// authorization endpoint would reject it too, and if the server cannot be reached or asks to wait.
    package var permitsPlainRequest: Bool {
        switch self {
        case .refused(let error): error.code == .invalidClient || error.code == .unauthorizedClient
        case .unavailable(.status(let status, _, _)): status != 429
        case .unavailable(.error): true
        case .unsafe(.redirected), .unsafe(.tokenResponse): true
        default: false
        }
    }
}
