import CounterfoilProtocol
public import HTTPTypes

/// The header fields that authorize one request of the program's own HTTP client, from ``TokenSession``.
///
/// It contains the access token. Its description does not.
public struct RequestAuthorization: Sendable {
    /// `Authorization`, and for a token that is bound to a key `DPoP` (RFC 9449 §7.1), with a proof for one request.
    public let headerFields: HTTPFields
    let endpoint: EndpointURL
    let credentials: Credentials

    var proof: String? { HTTPField.Name.dpop.flatMap { headerFields[$0] } }
}

extension RequestAuthorization: CustomStringConvertible, CustomReflectable {
    /// The names of the header fields and the origin of the request, without values.
    public var description: String {
        "<RequestAuthorization \(headerFields.map(\.name.rawName).joined(separator: ", ")) for \(endpoint.origin)>"
    }
    /// An empty mirror, so that `dump` does not show the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension TokenSession {
    /// Adds a fresh access token to a request that the program sends with its own HTTP client.
    ///
    ///     let authorization = try await session.authorize(&request)
    ///     var (response, body) = try await client.send(request)
    ///     if try await session.shouldRepeat(authorization, after: response) {
    ///         try await session.authorize(&request)
    ///         (response, body) = try await client.send(request)
    ///     }
    ///
    /// The function replaces `Authorization` and `DPoP`. It throws ``SessionError/refused(_:)`` unless the URL of the
    /// request is one to which the token may be sent. The HTTP client must not follow a redirect to another origin with
    /// these header fields.
    ///
    /// With `target`, the access token is for that part of the sign-in only; see ``credentials(for:)``.
    @discardableResult
    public nonisolated func authorize(
        _ request: inout HTTPRequest, for target: AccessTarget? = nil
    ) async throws(SessionError) -> RequestAuthorization {
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        let authorization = try await authorization(for: url, method: request.method, target: target)
        request.headerFields.replace(with: authorization)
        return authorization
    }

    /// Returns the header fields that authorize a request with this URL and method.
    ///
    /// A proof (`DPoP`) is good for one request. The function throws ``SessionError/refused(_:)`` unless the token may
    /// be sent to the URL. With `target`, the access token is for that part of the sign-in only.
    public nonisolated func authorization(
        for url: String, method: HTTPRequest.Method = .get, target: AccessTarget? = nil
    ) async throws(SessionError) -> RequestAuthorization {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(api: url) } catch { throw .refused(.badURL(error)) }
        let credentials = try await credentials(for: target)
        do { try credentials.check(endpoint, origins: allowedOrigins(of: credentials)) } catch { throw .refused(error) }
        var fields: HTTPFields = [.authorization: credentials.authorization]
        if let key = credentials.proofKey, let name = HTTPField.Name.dpop {
            fields[name] = DPoPProver(key).proof(for: endpoint, method, presenting: credentials.accessToken)
        }
        return RequestAuthorization(headerFields: fields, endpoint: endpoint, credentials: credentials)
    }

    /// Processes the response to an authorized request; returns true if the request may succeed with a new
    /// authorization.
    ///
    /// If the API has rejected the token (401), the function refreshes it. It throws if that fails, and returns false
    /// if there is no refresh token or another user has signed in meanwhile. It also learns a nonce for the next proof
    /// (`DPoP-Nonce`, RFC 9449 §8.2), so that it is worth a call after each response if the token is bound to a key.
    /// Repeat a request once only.
    public nonisolated func shouldRepeat(
        _ authorization: RequestAuthorization, after response: HTTPResponse
    ) async throws(SessionError) -> Bool {
        let credentials = authorization.credentials
        if let key = credentials.proofKey,
            DPoPProver(key).learn(from: response, to: authorization.proof, at: authorization.endpoint)
        {
            return true
        }
        // A refresh does not satisfy a challenge that demands another sign-in or more scopes.
        guard response.status == .unauthorized, credentials.isRefreshable, StepUp(demandedBy: response) == nil
        else { return false }
        let fresh = try await refreshed(replacing: credentials.accessToken, for: credentials.target)
        return fresh.isOfSameUser(as: credentials)
    }

    private nonisolated func allowedOrigins(of credentials: Credentials) -> Set<APIOrigin> {
        switch origins {
        case .these(let origins): origins
        case .stored, .storedOrFirst: credentials.allowedOrigins
        }
    }
}

extension HTTPFields {
    fileprivate mutating func replace(with authorization: RequestAuthorization) {
        for name in [HTTPField.Name.authorization, HTTPField.Name.dpop].compactMap(\.self) {
            self[name] = authorization.headerFields[name]
        }
    }
}

#if canImport(Darwin)
    public import Foundation

    extension TokenSession {
        /// Adds a fresh access token to a request that the program sends with URLSession.
        ///
        /// URLSession removes `Authorization` when it follows a redirect to another host. See
        /// ``authorize(_:for:)-(HTTPRequest,_)``.
        @discardableResult
        public nonisolated func authorize(
            _ request: inout URLRequest, for target: AccessTarget? = nil
        ) async throws(SessionError) -> RequestAuthorization {
            let method = HTTPRequest.Method(rawValue: request.httpMethod ?? "GET") ?? .get
            let url = request.url?.absoluteString ?? ""
            let authorization = try await authorization(for: url, method: method, target: target)
            for name in [HTTPField.Name.authorization, HTTPField.Name.dpop].compactMap(\.self) {
                request.setValue(authorization.headerFields[name], forHTTPHeaderField: name.rawName)
            }
            return authorization
        }

        /// Processes a response of URLSession to an authorized request; see
        /// ``shouldRepeat(_:after:)-(_,HTTPResponse)``.
        public nonisolated func shouldRepeat(
            _ authorization: RequestAuthorization, after response: URLResponse
        ) async throws(SessionError) -> Bool {
            guard let response = response as? HTTPURLResponse else { return false }
            return try await shouldRepeat(authorization, after: HTTPResponse(response))
        }
    }
#endif
