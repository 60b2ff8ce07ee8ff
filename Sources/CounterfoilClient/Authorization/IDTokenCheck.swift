import CounterfoilPlatform
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The verification of ID tokens with the keys that the server publishes.
///
/// OpenID Connect Core §3.1.3.7 and §10.1.1.
struct IDTokenCheck: Sendable {
    private let transport: any HTTPTransport
    private let cache: MetadataCache?
    /// The audiences that an ID token may name in addition to the client.
    private let trustedAudiences: Set<String>

    init(transport: any HTTPTransport, trustedAudiences: Set<String> = []) {
        self.init(
            transport: transport, trustedAudiences: trustedAudiences,
            cache: MetadataCache.ofThisProcess(for: transport))
    }

    init(transport: any HTTPTransport, trustedAudiences: Set<String> = [], cache: MetadataCache?) {
        self.transport = transport
        self.trustedAudiences = trustedAudiences
        self.cache = cache
    }

    /// Verifies the ID token of a refresh response (OpenID Connect Core §12.2).
    func verifyRefreshed(
        _ token: IDToken,
        of configuration: AuthorizationServerConfiguration,
        clientID: ClientIdentifier,
        signIn: IDTokenVerifier.SignIn,
        accessToken: AccessToken,
        at time: ResponseTime
    ) async throws(SignInError) -> VerifiedIDToken {
        let verifier = verifier(of: configuration, clientID)
        return try await withKeys(of: configuration, for: token, at: time) { keys throws(TokenRefusal) in
            try verifier.verifyRefreshed(token, of: signIn, keys: keys, accessToken: accessToken, at: time.forTokens)
        }
    }

    /// Verifies the ID token of a grant without an authorization request, such as the device grant (RFC 8628).
    ///
    /// Such an ID token has no nonce.
    func verifyWithoutRequest(
        _ token: IDToken,
        of configuration: AuthorizationServerConfiguration,
        clientID: ClientIdentifier,
        accessToken: AccessToken,
        at time: ResponseTime
    ) async throws(SignInError) -> VerifiedIDToken {
        let verifier = verifier(of: configuration, clientID)
        return try await withKeys(of: configuration, for: token, at: time) { keys throws(TokenRefusal) in
            try verifier.verifyDirect(token, keys: keys, accessToken: accessToken, at: time.forTokens)
        }
    }

    func verify(
        _ token: IDToken,
        of configuration: AuthorizationServerConfiguration,
        clientID: ClientIdentifier,
        nonce: Nonce,
        maxAge: Int?,
        accessToken: AccessToken,
        at time: ResponseTime
    ) async throws(SignInError) -> VerifiedIDToken {
        let verifier = verifier(of: configuration, clientID)
        let request = IDTokenVerifier.Request(nonce: nonce, maxAge: maxAge.map { TimeInterval($0) })
        return try await withKeys(of: configuration, for: token, at: time) { keys throws(TokenRefusal) in
            try verifier.verify(token, keys: keys, request: request, accessToken: accessToken, at: time.forTokens)
        }
    }

    /// Converts the refusal of an ID token; that of its algorithm names the algorithm.
    private static func unsafe(_ refusal: TokenRefusal, _ token: IDToken?) -> SignInError {
        guard let token, refusal == .algorithmNotAllowed,
            let header = Base64URL.decode(String(token.exposed.prefix { $0 != "." })),
            let algorithm = (try? JSONReader.object(header))?["alg"]?.text
        else { return .unsafe(.idToken(refusal)) }
        return .unsafe(.idTokenAlgorithm(String(algorithm.prefix(40))))
    }

    /// Returns the audiences of an ID token that was verified before, which a later one of the same sign-in may name.
    static func audiences(of verified: IDToken) -> Set<String> {
        Set(JSONReader.unverifiedClaims(of: verified.exposed)?["aud"]?.texts ?? [])
    }

    private func verifier(
        of configuration: AuthorizationServerConfiguration, _ clientID: ClientIdentifier
    ) -> IDTokenVerifier {
        IDTokenVerifier(issuer: configuration.issuer, clientID: clientID, trustedAudiences: trustedAudiences)
    }

    /// Passes the keys of the server to `judge`, from the cache if they are there.
    ///
    /// If the keys lack the key that signed the ID token, the function fetches them again. A cached key set is fetched
    /// again at most once a minute. `time` is that of the response with the token.
    func withKeys<Verified>(
        of configuration: AuthorizationServerConfiguration, for token: IDToken? = nil, at time: ResponseTime,
        judge: (JSONWebKeySet) throws(TokenRefusal) -> Verified
    ) async throws(SignInError) -> Verified {
        guard let endpoint = configuration.keysEndpoint else { throw .unsafe(.tokenResponse(.noKeys)) }
        let issuer = configuration.issuer
        let cached = cache?.keys(of: issuer, at: endpoint)
        let keys: JSONWebKeySet
        if let cached { keys = cached } else { keys = try await fetchedKeys(of: issuer, at: endpoint) }
        let refusal: TokenRefusal
        do throws(TokenRefusal) { return try judge(keys) } catch { refusal = error }
        switch refusal {
        // OpenID Connect Core §10.1.1: an unknown `kid` can mean that the server has rotated its keys.
        case .unknownKey: break
        // A server may use the same `kid` for a new key.
        case .badSignature where cached != nil: break
        default: throw time.explaining(Self.unsafe(refusal, token))
        }
        guard cache?.mayRefetchKeys(of: issuer, at: endpoint) ?? true else { throw Self.unsafe(refusal, token) }
        let rotated = try await fetchedKeys(of: issuer, at: endpoint)
        do throws(TokenRefusal) { return try judge(rotated) } catch {
            throw time.explaining(Self.unsafe(error, token))
        }
    }

    private func fetchedKeys(
        of issuer: Issuer, at endpoint: EndpointURL
    ) async throws(SignInError) -> JSONWebKeySet {
        let response = try await transport.answer(
            to: TransportRequest(endpoint, headerFields: [.accept: "application/json"]))
        guard response.statusCode == 200, let keys = try? JSONWebKeySet(parsing: response.body) else {
            throw .unsafe(.keys)
        }
        cache?.keep(keys, of: issuer, at: endpoint, for: MetadataCache.lifetime(of: response))
        return keys
    }
}
