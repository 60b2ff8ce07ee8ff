import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import Synchronization

/// A sender that adds a DPoP proof to each request, and caches the nonces and clock offsets of servers.
///
/// RFC 9449 §8 and §9: a server may require a nonce that it has issued. Any response may contain a new nonce.
final class DPoPProver: Sendable {
    let key: ProofKey
    private let states = Mutex<[String: ServerState]>([:])

    private struct ServerState {
        var nonce: String?
        var clockOffset: TimeInterval = 0
    }

    /// The maximum number of servers (origins) in the cache; if it is full, it is emptied before a server is added.
    private static let serverLimit = 16

    init(_ key: ProofKey) { self.key = key }

    /// Sends a request with a proof, and retries it once if the server rejects the proof.
    ///
    /// The function retries only if the response contains a new nonce or shows a different clock offset. Without
    /// either, the server would reject the second proof too. The retry evaluates `request` again, because the client
    /// authentication in a request may be valid only once.
    func send(
        _ request: @autoclosure () -> TransportRequest, carrying token: AccessToken? = nil,
        through transport: any HTTPTransport
    ) async throws(TransportFailure) -> TransportResponse {
        let attempt = request()
        let first = try await transport.send(proving(attempt, carrying: token))
        guard update(from: first, of: attempt.endpoint), first.wantsAnotherProof else { return first }
        let second = try await transport.send(proving(request(), carrying: token))
        _ = update(from: second, of: attempt.endpoint)
        return second
    }

    private func proving(_ request: TransportRequest, carrying token: AccessToken?) -> TransportRequest {
        let state = states.withLock { $0[request.endpoint.origin] } ?? ServerState()
        let claims = DPoPProofClaims(
            proofID: Base64URL.encode(RandomBytes().bytes(16)), method: request.method.rawValue,
            uri: request.endpoint.withoutQuery, issuedAt: Date().addingTimeInterval(state.clockOffset),
            accessToken: token, nonce: state.nonce)
        var request = request
        // Signing with a P-256 key does not fail. If it did, the request would contain no proof, and the server would
        // reject it.
        if let name = HTTPField.Name("DPoP") { request.headerFields[name] = try? key.sign(claims) }
        return request
    }

    /// Caches the nonce and the clock offset from a response.
    ///
    /// Returns true if the nonce has changed, or if the clock offset has changed by more than five seconds.
    private func update(from response: TransportResponse, of endpoint: EndpointURL) -> Bool {
        let nonce = HTTPField.Name("DPoP-Nonce").flatMap { response.head.headerFields[$0] }.flatMap { text in
            (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
        }
        let offset = ServerClock.offset(in: response)
        return states.withLock { states in
            let before = states[endpoint.origin] ?? ServerState()
            var state = before
            if let nonce { state.nonce = nonce }
            if let offset { state.clockOffset = offset }
            if states[endpoint.origin] == nil, states.count >= Self.serverLimit { states.removeAll() }
            states[endpoint.origin] = state
            return state.nonce != before.nonce || abs(state.clockOffset - before.clockOffset) > 5
        }
    }
}

extension TransportResponse {
    /// Whether the server rejected the request because of its DPoP proof (RFC 9449 §8, §9 and §7.1).
    fileprivate var wantsAnotherProof: Bool {
        switch statusCode {
        case 400:
            guard case .refusal(let error) = TokenEndpointResponse(parsing: body, of: .standard, isRefresh: false)
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
    /// The value of the claim `htu` in a proof: the URL without its query (RFC 9449 §4.2).
    fileprivate var withoutQuery: String { String(rawValue.prefix { $0 != "?" }) }
}
