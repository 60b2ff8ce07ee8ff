import CounterfoilProtocol

extension ClientAuthentication {
    /// Sends a request to an authorization server, and sends it again if the clock of the device was the obstacle.
    ///
    /// A server rejects a client assertion whose times are not those of its own clock (RFC 7523 §3). The second
    /// request has an assertion with the times of the server's clock, which the rejection shows. `exchange` creates
    /// each request again, because an assertion is valid for one request only.
    func send(
        at issuer: Issuer, _ exchange: () async throws(TransportFailure) -> TransportResponse
    ) async throws(SignInError) -> TransportResponse {
        do throws(TransportFailure) {
            let response = try await exchange()
            guard ServerClock.record(response, of: issuer), key != nil,
                case .refusal(let error) = TokenEndpointResponse(
                    parsing: response.body, of: .standard, isRefresh: false), error.code == .invalidClient
            else { return response }
            return try await exchange()
        } catch { throw SignInError(error) }
    }
}
