import CounterfoilProtocol
import CounterfoilTokens

/// Takes an authorization request to the server before the browser opens.
///
/// RFC 9126 §2.
struct PushedAuthorizationRequest: Sendable {
    let server: AuthorizationServerConfiguration
    let clientID: ClientIdentifier
    let authentication: ClientAuthentication
    let prover: Prover?
    let transport: any HTTPTransport

    /// The most characters of a reference.
    private static let referenceLimit = 1024

    /// The reference under which the server keeps the request, `request_uri`.
    func push(_ request: FormParameters) async throws(SignInError) -> String {
        guard let endpoint = server.pushedAuthorizationRequestEndpoint else {
            throw .unusable("\(server.issuer) takes no pushed authorization requests")
        }
        // RFC 9126 §2.1: the identifier is a parameter of the request, whatever proves the client, and there once.
        var form = FormParameters(request.pairs.filter { $0.name != "client_id" })
        if case .secretBasic = authentication { form.append("client_id", clientID.rawValue) }
        let body = try await ServerMessage(
            form: form, of: clientID, by: authentication, at: server.issuer, prover: prover
        ).send(to: endpoint, through: transport)
        guard case .string(let reference) = (try? JSONReader.object(body))?["request_uri"],
            (1...Self.referenceLimit).contains(reference.utf8.count)
        else { throw .unsafe(.tokenResponse(.unreadable)) }
        return reference
    }
}
