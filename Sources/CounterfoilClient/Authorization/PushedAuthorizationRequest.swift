import CounterfoilProtocol
import CounterfoilTokens

/// The request that pushes an authorization request to the server before the browser opens (RFC 9126 §2).
struct PushedAuthorizationRequest: Sendable {
    let server: AuthorizationServerConfiguration
    let clientID: ClientIdentifier
    let authentication: ClientAuthentication
    let prover: DPoPProver?
    let transport: any HTTPTransport

    /// The maximum length of `request_uri`, in bytes.
    private static let referenceLimit = 1024

    /// Pushes a request and returns the `request_uri` by which the server identifies it.
    func push(_ request: FormParameters) async throws(SignInError) -> String {
        guard let endpoint = server.pushedAuthorizationRequestEndpoint else {
            throw .unusable("\(server.issuer) does not support pushed authorization requests")
        }
        // RFC 9126 §2.1: the form must contain `client_id` exactly once. `ClientAuthentication.apply` adds it later for
        // every method except `client_secret_basic`.
        var form = FormParameters(request.pairs.filter { $0.name != "client_id" })
        if case .secretBasic = authentication { form.append("client_id", clientID.rawValue) }
        let body = try await EndpointRequest(
            form: form, of: clientID, by: authentication, at: server.issuer, prover: prover
        ).send(to: endpoint, through: transport)
        guard case .string(let reference) = (try? JSONReader.object(body))?["request_uri"],
            (1...Self.referenceLimit).contains(reference.utf8.count)
        else { throw .unsafe(.tokenResponse(.unreadable)) }
        return reference
    }
}
