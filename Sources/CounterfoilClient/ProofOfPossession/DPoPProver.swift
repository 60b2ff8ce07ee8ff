import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// A sender that adds a DPoP proof to each request, with the latest nonce and the clock of the server.
///
/// RFC 9449 §8 and §9: a server may require a nonce that it has issued. Any response may contain a new nonce. All
/// provers of one key share what they know about servers, so that a session learns a nonce only once.
struct DPoPProver: Sendable {
    let key: ProofKey
    private let servers: ProofServers

    init(_ key: ProofKey) {
        self.key = key
        servers = .known(to: key)
    }

    /// Sends a request with a proof, and retries it once if the server rejects the proof.
    ///
    /// The function retries only if the response contains a new nonce or shows a different clock offset. Without
    /// either, the server would reject the second proof too. A body that can be sent only once allows no retry. The
    /// retry evaluates `request` again, because the client authentication in a request may be valid only once.
    func send(
        _ request: @autoclosure () async throws(TransportFailure) -> TransportRequest,
        presenting token: AccessToken? = nil,
        through transport: any HTTPTransport
    ) async throws(TransportFailure) -> TransportResponse {
        try await send(try await request(), presenting: token) { request throws(TransportFailure) in
            try await transport.send(request)
        }
    }

    /// Sends a request with a proof by a function, and retries it once if the server rejects the proof.
    func send<Response: HeadedResponse>(
        _ request: @autoclosure () async throws(TransportFailure) -> TransportRequest,
        presenting token: AccessToken? = nil,
        through exchange: (TransportRequest) async throws(TransportFailure) -> Response
    ) async throws(TransportFailure) -> Response {
        let attempt = try await request()
        let known = servers.state(of: attempt.endpoint)
        let first = try await exchange(proving(attempt, presenting: token, known))
        let learned = update(from: first, of: attempt.endpoint)
        guard first.wantsAnotherProof, learned.differs(from: known), attempt.body.isRepeatable else { return first }
        let second = try await exchange(proving(try await request(), presenting: token, learned))
        _ = update(from: second, of: attempt.endpoint)
        return second
    }

    private func proving(
        _ request: TransportRequest, presenting token: AccessToken?, _ state: ProofServers.State
    ) -> TransportRequest {
        var request = request
        if let name = HTTPField.Name.dpop {
            request.headerFields[name] = proof(for: request.endpoint, request.method, presenting: token, state)
        }
        return request
    }

    private func proof(
        for endpoint: EndpointURL, _ method: HTTPRequest.Method, presenting token: AccessToken?,
        _ state: ProofServers.State
    ) -> String? {
        let claims = DPoPProofClaims(
            proofID: Base64URL.encode(RandomBytes().bytes(16)), method: method.rawValue,
            uri: endpoint.proofURI, issuedAt: Date().addingTimeInterval(state.clockOffset),
            accessToken: token, nonce: state.nonce)
        // Signing with a P-256 key does not fail. If it did, the request would contain no proof, and the server would
        // reject it.
        return try? key.sign(claims)
    }

    /// Records the nonce and the clock offset from a response, and returns what is known now.
    private func update(from response: some HeadedResponse, of endpoint: EndpointURL) -> ProofServers.State {
        let nonce = HTTPField.Name.dpopNonce.flatMap { response.head.headerFields[$0] }.flatMap { text in
            (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
        }
        return servers.update(endpoint, nonce: nonce, clockOffset: ServerClock.signingOffset(in: response))
    }
}

// MARK: - Requests of the program's own HTTP client

extension DPoPProver {
    /// Returns a proof for a request that carries an access token.
    func proof(for endpoint: EndpointURL, _ method: HTTPRequest.Method, presenting token: AccessToken) -> String? {
        proof(for: endpoint, method, presenting: token, servers.state(of: endpoint))
    }

    /// Records what a response shows; returns true if the server rejected a proof, and another one may succeed.
    func learn(from response: HTTPResponse, to proof: String?, at endpoint: EndpointURL) -> Bool {
        var sent = servers.state(of: endpoint)
        sent.nonce = proof.flatMap(JSONReader.unverifiedClaims(of:))?["nonce"]?.text
        let learned = update(from: response, of: endpoint)
        return response.wantsAnotherProof && learned.differs(from: sent)
    }
}

extension HTTPField.Name {
    /// `DPoP`: a proof (RFC 9449 §4.1).
    static let dpop = HTTPField.Name("DPoP")
    /// `DPoP-Nonce`: the nonce of the next proof (RFC 9449 §8).
    static let dpopNonce = HTTPField.Name("DPoP-Nonce")
}

extension HeadedResponse {
    /// Whether the server rejected the request because of its DPoP proof (RFC 9449 §8, §9 and §7.1).
    fileprivate var wantsAnotherProof: Bool {
        switch head.status.code {
        case 400:
            guard
                case .refusal(let error) = TokenEndpointResponse(parsing: receivedBody, of: .standard, isRefresh: false)
            else {
                return false
            }
            return error.code.rawValue == "use_dpop_nonce" || error.code.rawValue == "invalid_dpop_proof"
        case 401:
            let challenge = head.headerFields[.wwwAuthenticate] ?? ""
            return challenge.contains("use_dpop_nonce") || challenge.contains("invalid_dpop_proof")
        default: return false
        }
    }
}

extension EndpointURL {
    /// The value of the claim `htu` in a proof (RFC 9449 §4.2): the URL without its query, in normal form.
    ///
    /// RFC 3986 §6.2.2.1 and §6.2.3: scheme and host in lower case, no default port, and `/` for an empty path.
    /// Servers compare the claim with the URL of the request as they see it.
    var proofURI: String {
        let scheme = uri.scheme.lowercased()
        let port = uri.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        return "\(scheme)://\(uri.host?.lowercased() ?? "")\(port)\(uri.path.isEmpty ? "/" : uri.path)"
    }
}
