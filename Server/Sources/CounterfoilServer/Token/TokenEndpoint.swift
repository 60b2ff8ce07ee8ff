@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The endpoint `/oauth2/token` (RFC 6749 §3.2), which selects the grant type, authenticates the client, and
/// lets the grant type respond.
struct TokenEndpoint: Sendable {
    let authenticator: ClientAuthenticator
    let metrics: ServerMetrics
    let audiences: AudienceParameterLog
    let proofs: DPoPProofs
    let context: GrantContext

    /// Returns the grant type with a name; nil if the server does not support it.
    ///
    /// A new grant type is added here.
    private func grant(_ name: String) -> (any TokenGrant)? {
        switch name {
        case AuthorizationCodeGrant.grantType: AuthorizationCodeGrant(context: context)
        case RefreshTokenGrant.grantType: RefreshTokenGrant(context: context)
        case ClientCredentialsGrant.grantType: ClientCredentialsGrant(context: context)
        case DeviceCodeGrant.grantType: DeviceCodeGrant(context: context)
        default: nil
        }
    }

    var handlers: [EndpointHandler] { [EndpointHandler(.token, ofClients: respond)] }

    func respond(
        to request: IncomingRequest, now: Date, client: inout RequestingClient
    ) async throws -> Reply {
        // RFC 6749 §2.3.1: credentials must not be in the URL, so the query is ignored.
        let form = try request.form()
        let response: TokenResponse
        do {
            guard let grant = grant(try TokenRequest.grantType(of: form)) else {
                throw TokenRequest.unsupportedGrantType
            }
            response = try await respond(to: request, form, with: grant, now: now, client: &client)
        } catch {
            let explained = AudienceParameter(form).map { Self.explained(error, by: $0) } ?? error
            // A malformed request is refused before the client is authenticated. Its developer searches the log too.
            guard let claim = try? PresentedClientCredentials(request, form) else { throw explained }
            throw ClientRequestError(explained, clientID: claim.clientID)
        }
        var reply = Reply(.ok, .json(response.encoded()))
        // RFC 6749 §5.1: `Pragma` is for HTTP/1.0 caches, which do not know `Cache-Control`.
        if let pragma = Self.pragma { reply.fields[pragma] = "no-cache" }
        return reply
    }

    private func respond<Grant: TokenGrant>(
        to request: IncomingRequest, _ form: FormParameters, with grant: Grant, now: Date,
        client: inout RequestingClient
    ) async throws -> TokenResponse {
        let asked = try Grant.parse(form)
        let authenticated = try await authenticator.authenticate(
            request, form: form, on: Grant.phase, now: now, client: &client)
        audiences.note(AudienceParameter(form), of: authenticated.client.id, at: .token, now: now)
        let response = try await grant.respond(
            to: asked,
            TokenEndpointRequest(
                client: authenticated, request: request, proof: try proof(in: request, of: authenticated), now: now))
        metrics.countTokens(of: Grant.grantType)
        return response
    }

    /// Verifies the DPoP proof of a request; throws if it is invalid, or missing although the client must send one
    /// (RFC 9449 §5 and §5.2).
    private func proof(
        in request: IncomingRequest, of client: AuthenticatedClient
    ) throws(OAuthError) -> VerifiedDPoPProof? {
        let proof: VerifiedDPoPProof?
        do { proof = try proofs.proof(in: request, at: .token) } catch { throw OAuthError(error) }
        guard proof != nil || !client.client.policy.requiresBoundTokens else {
            throw OAuthError.proofMissing(
                "this client", AuthorizationValidation.setting("Require bound tokens", "--require-bound-tokens"))
        }
        return proof
    }

    private static func explained(_ error: any Error, by parameter: AudienceParameter) -> any Error {
        switch error {
        case let error as OAuthError: parameter.explaining(error)
        case let error as ClientRequestError:
            ClientRequestError(explained(error.error, by: parameter), clientID: error.clientID, userID: error.userID)
        case let refusal as ClientRefusal:
            ClientRefusal(
                parameter.explaining(refusal.error), asksForAuthentication: refusal.asksForAuthentication,
                clientID: refusal.clientID)
        default: error
        }
    }

    private static let pragma = HTTPField.Name("Pragma")
}
