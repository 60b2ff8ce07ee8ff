import CounterfoilProtocol
import Foundation
import HTTPTypes

/// Asks the token endpoint of one server for one client.
///
/// RFC 6749 §3.2, directly and never through the browser (RFC 6749 §4.1.3).
struct TokenEndpoint: Sendable {
    var server: AuthorizationServerConfiguration
    let clientID: ClientIdentifier
    let authentication: ClientAuthentication
    /// What proves that the requests are this client's own; nil for Bearer tokens.
    let prover: Prover?
    let transport: any HTTPTransport

    /// Tokens, and what the server said besides that the application keeps.
    struct Answer: Sendable {
        let tokens: TokenResponse
        let details: [String: String]
        /// By how much the server's clock is ahead, in seconds.
        let clockOffset: TimeInterval
        /// When it came, by this device's clock.
        let received = Date()

        /// A time of this device by the clock of the server, which judges the times in its tokens.
        func serverTime(at now: Date) -> Date { now.addingTimeInterval(clockOffset) }
    }

    /// What the endpoint said.
    enum Reply: Sendable {
        case tokens(Answer)
        /// The person's account is at another server of the vendor, which its profile lists.
        case elsewhere(origin: String, OAuthError)
    }

    /// Sends a request, once; a success is an answer with a token of a type that this product can send.
    func answer(to request: TokenRequest) async throws(SignInError) -> Answer {
        var isRefresh = false
        if case .refreshToken = request { isRefresh = true }
        return try await answer(to: request.parameters, isRefresh: isRefresh)
    }

    /// Sends a request of any grant, once.
    func answer(to request: FormParameters, isRefresh: Bool) async throws(SignInError) -> Answer {
        switch try await reply(to: request, isRefresh: isRefresh) {
        case .tokens(let answer): return answer
        case .elsewhere(_, let error): throw SignInError(error)
        }
    }

    /// Sends a request of any grant, once; for who can go on at another server of the vendor.
    func reply(to request: FormParameters, isRefresh: Bool) async throws(SignInError) -> Reply {
        let endpoint = server.tokenEndpoint
        let response: TransportResponse
        do {
            response =
                if let prover {
                    try await prover.send(message(request, isRefresh: isRefresh), through: transport)
                } else {
                    try await transport.send(message(request, isRefresh: isRefresh))
                }
        } catch { throw SignInError(error) }

        // Some servers send refusals with the status 200, so the words count before the status.
        let said = TokenAnswer(parsing: response.body, of: server.behavior, isRefresh: isRefresh)
        let status = response.statusCode
        switch (status, said) {
        case (300..<400, _): throw .unsafe(.redirected(origin: endpoint.origin))
        case (_, .later(let error, let seconds)):
            throw .unavailable(.busy(error, retryAfter: response.retryAfter ?? .seconds(seconds)))
        // RFC 8628 §3.5: some servers say it with the status 429.
        case (429, .refusal(let error)) where error.code.rawValue == "slow_down": throw SignInError(error)
        case (429, _), (500..<600, _):
            throw .unavailable(.status(status, origin: endpoint.origin, retryAfter: response.retryAfter))
        case (_, .refusal(let error)): throw SignInError(error)
        case (_, .elsewhere(let error, let origin)): return .elsewhere(origin: origin, error)
        case (200..<300, .tokens(let tokens, let details)):
            // RFC 6749 §7.1: a token of a type that is not understood is not used.
            let type = tokens.tokenType.lowercased()
            let answer = Answer(
                tokens: tokens, details: details, clockOffset: ServerClock.offset(in: response) ?? 0)
            if prover != nil {
                // RFC 9449 §5: what was to be bound to the key and is not could be used by anybody who finds it.
                guard type == "dpop" else { throw .unsafe(.tokenResponse(.notBound)) }
                return .tokens(answer)
            }
            guard tokens.isBearer || server.behavior.tokenResponse.extraTokenTypes.contains(type) else {
                throw .unsafe(.tokenResponse(.unknownTokenType))
            }
            return .tokens(answer)
        case (200..<300, _): throw .unsafe(.tokenResponse(.unreadable))
        default: throw .unsafe(.tokenResponse(.unreadableRefusal(status)))
        }
    }

    /// The request as it is sent, with what proves the client.
    private func message(_ request: FormParameters, isRefresh: Bool) -> TransportRequest {
        var form = request
        var fields: HTTPFields = [
            .contentType: "application/x-www-form-urlencoded", .accept: "application/json",
        ]
        var authentication = authentication
        if isRefresh, !server.behavior.sendsSecretOnRefresh { authentication = .none }
        authentication.apply(to: &form, headerFields: &fields, clientID: clientID, at: server.issuer)
        return TransportRequest(
            server.tokenEndpoint, method: .post, headerFields: fields, body: Array(form.encoded.utf8))
    }
}
