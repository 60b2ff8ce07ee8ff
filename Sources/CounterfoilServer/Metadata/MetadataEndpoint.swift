import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// The endpoint for the server metadata, with the same response at both well-known URLs (RFC 8414 §3, OpenID
/// Connect Discovery §4).
///
/// This type also serves the key set (JWKS).
final class MetadataEndpoint: Sendable {
    private let settings: ServerSettings
    private let registry: CachedRegistry
    private let keys: KeyRing
    /// Whether the server can fetch the documents of clients.
    private let fetchesDocuments: Bool
    /// The metadata document of the last request, which is used again while the facts are the same.
    private let last = Mutex<Answer?>(nil)

    private struct Answer {
        let facts: Facts
        let body: [UInt8]
    }

    /// The facts in the registry on which the metadata depend.
    private struct Facts: Equatable {
        var scopes = MetadataEndpoint.standardScopes.map(\.rawValue)
        var kinds: Set<UnregisteredClientKind> = []
    }

    init(settings: ServerSettings, registry: CachedRegistry, keys: KeyRing, fetchesDocuments: Bool) {
        self.settings = settings
        self.registry = registry
        self.keys = keys
        self.fetchesDocuments = fetchesDocuments
    }

    var handlers: [EndpointHandler] {
        [
            EndpointHandler(.metadata) { [self] _, _ in try await respond() },
            EndpointHandler(.keySet) { [keys] _, _ in
                Reply(.ok, .json(keys.publicKeys.encoded()), fields: [.cacheControl: "public, max-age=300"])
            },
        ]
    }

    private func respond() async throws -> Reply {
        Reply(.ok, .json(try await body()), fields: [.cacheControl: "public, max-age=300"])
    }

    private func body() async throws -> [UInt8] {
        let known = last.withLock { $0 }
        let facts = await facts() ?? known?.facts ?? Facts()
        if let known, known.facts == facts { return known.body }
        let answer = Answer(facts: facts, body: try metadata(facts).encoded())
        last.withLock { $0 = answer }
        return answer.body
    }

    /// Returns the standard scopes and then the other listed scopes, with the accepted kinds of unregistered clients;
    /// nil if the store failed.
    ///
    /// After a failure, `body` uses the facts that were read last, so that clients still get the rest of the metadata.
    private func facts() async -> Facts? {
        guard let registry = try? await registry.current(), let scopes = try? await registry.scopes(),
            let policy = try? await registry.effectiveUnregisteredClientPolicy(settings)
        else { return nil }
        var facts = Facts()
        facts.scopes += scopes.filter { $0.isListed && !$0.token.isStandard }.map(\.token.rawValue)
        facts.kinds = policy.kinds
        return facts
    }

    /// The scopes of OpenID Connect Core §5.4 and §11.
    private static let standardScopes: [Scope.Token] = [.openID, .offlineAccess, .profile, .email, .address, .phone]

    private func metadata(_ facts: Facts) -> AuthorizationServerMetadata {
        let issuer = settings.issuer
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.authorizationEndpoint = issuer.endpoint(Endpoint.authorization.path)
        metadata.tokenEndpoint = issuer.endpoint(Endpoint.token.path)
        metadata.deviceAuthorizationEndpoint = issuer.endpoint(Endpoint.deviceAuthorization.path)
        metadata.revocationEndpoint = issuer.endpoint(Endpoint.revocation.path)
        metadata.introspectionEndpoint = issuer.endpoint(Endpoint.introspection.path)
        metadata.userInfoEndpoint = issuer.endpoint(Endpoint.userInfo.path)
        metadata.endSessionEndpoint = issuer.endpoint(Endpoint.logout.path)
        metadata.jwksURI = issuer.endpoint(Endpoint.keySet.path)
        metadata.scopesSupported = facts.scopes
        metadata.responseTypesSupported = ["code"]
        metadata.responseModesSupported = ResponseMode.allCases.map(\.rawValue)
        metadata.grantTypesSupported = [
            "authorization_code", "refresh_token", "client_credentials", DeviceCodeGrant.grantType,
        ]
        let confidential = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
        let assertionAlgorithms = SigningAlgorithm.allCases.map(\.rawValue)
        metadata.tokenEndpointAuthMethodsSupported = ["none"] + confidential
        metadata.tokenEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        metadata.revocationEndpointAuthMethodsSupported = ["none"] + confidential
        metadata.revocationEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        metadata.introspectionEndpointAuthMethodsSupported = confidential
        metadata.introspectionEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        metadata.introspectionSigningAlgValuesSupported = [SigningAlgorithm.es256.rawValue]
        metadata.codeChallengeMethodsSupported = [CodeChallenge.method]
        metadata.dpopSigningAlgValuesSupported = DPoPProofVerifier.algorithms.map(\.rawValue)
        metadata.authorizationResponseIssParameterSupported = true
        metadata.subjectTypesSupported = SubjectType.allCases.map(\.rawValue)
        metadata.idTokenSigningAlgValuesSupported = KeyRing.algorithms.map(\.rawValue)
        metadata.claimsSupported =
            ["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "acr", "sid"]
            + UserClaims.all.sorted()
        metadata.claimsParameterSupported = true
        metadata.acrValuesSupported = AuthenticationContext.all
        metadata.backchannelLogoutSupported = true
        metadata.backchannelLogoutSessionSupported = true
        metadata.promptValuesSupported = AuthorizationRequest.Prompt.allCases.map(\.rawValue)
        metadata.offlineAccessPromptRequired = false
        metadata.requestParameterSupported = false
        metadata.requestURIParameterSupported = false
        metadata.pushedAuthorizationRequestEndpoint = issuer.endpoint(Endpoint.pushedAuthorization.path)
        metadata.requirePushedAuthorizationRequests = settings.requiresPushedRequests
        if facts.kinds.contains(.registration) {
            metadata.registrationEndpoint = issuer.endpoint(Endpoint.registration.path)
        }
        // Without this member, a client uses the registration endpoint.
        if facts.kinds.contains(.document), fetchesDocuments { metadata.clientIDMetadataDocumentSupported = true }
        return metadata
    }
}
