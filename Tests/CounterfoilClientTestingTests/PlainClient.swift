import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes

/// A client that sends exactly the bytes of a test and validates nothing.
struct PlainClient: Sendable {
    let server: ScriptedAuthorizationServer
    var clientID = "lightbox"
    /// The parameters of every authorization request that replace the defaults.
    var asked: [String: String] = [:]
    /// The parameters that are added to every token request.
    var credentials: [String: String] = [:]

    static let redirectURI = "http://127.0.0.1:5000/callback"
    static let verifier = CodeVerifier()

    struct Reply: Sendable {
        let status: Int
        let headerFields: HTTPFields
        let text: String

        var json: WireValue? { try? JSONDecoder().decode(WireValue.self, from: Data(text.utf8)) }

        /// Returns a member that is a string.
        func text(_ name: String) -> String? {
            if case .text(let text)? = json?[name] { text } else { nil }
        }

        func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { headerFields[$0] } }
    }

    func get(_ url: String, fields: [String: String] = [:], byteLimit: Int = 1 << 24) async throws -> Reply {
        try await send(.get, url, fields: fields, byteLimit: byteLimit)
    }

    func post(_ url: String, _ form: [String: String], fields: [String: String] = [:]) async throws -> Reply {
        let pairs = form.sorted { $0.key < $1.key }.map { FormParameters.Pair(name: $0.key, value: $0.value) }
        return try await send(
            .post, url,
            fields: ["Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"]
                .merging(fields) { $1 },
            body: FormParameters(pairs).encoded)
    }

    func send(
        _ method: HTTPRequest.Method, _ url: String, fields: [String: String] = [:], body: String = "",
        byteLimit: Int = 1 << 24, timeout: Duration = .seconds(30)
    ) async throws -> Reply {
        var headerFields = HTTPFields()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { headerFields[name] = value }
        }
        let answer = try await StandardTransport().send(
            TransportRequest(
                EndpointURL(url), method: method, headerFields: headerFields, body: RequestBody(body.utf8),
                byteLimit: byteLimit, timeout: timeout))
        return Reply(
            status: answer.statusCode, headerFields: answer.head.headerFields,
            text: String(decoding: answer.body, as: UTF8.self))
    }

    /// Sends an authorization request as the browser does.
    func authorize(_ changes: [String: String] = [:]) async throws -> Reply {
        var parameters = [
            "response_type": "code", "client_id": clientID, "redirect_uri": Self.redirectURI, "state": "the-state",
            "scope": "openid photos.read", "nonce": "the-nonce", "code_challenge_method": "S256",
            "code_challenge": CodeChallenge(of: Self.verifier).rawValue,
        ]
        parameters.merge(asked) { $1 }
        parameters.merge(changes) { $1 }
        let pairs = parameters.filter { !$0.value.isEmpty }.map { FormParameters.Pair(name: $0.key, value: $0.value) }
        return try await get("\(server.url(of: .authorization))?\(FormParameters(pairs).encoded)")
    }

    /// Sends an authorization request and returns the parameters of the response.
    func callback(_ changes: [String: String] = [:]) async throws -> FormParameters {
        let location = try await authorize(changes).field("Location") ?? ""
        return try FormParameters(parsing: String(location.drop { $0 != "?" }.dropFirst()))
    }

    func token(
        _ grantType: String, _ form: [String: String], fields: [String: String] = [:]
    ) async throws -> Reply {
        try await post(
            server.url(of: .token),
            ["grant_type": grantType, "client_id": clientID].merging(credentials) { $1 }.merging(form) { $1 }
                .filter { $0.value != "-" },
            fields: fields)
    }

    /// Redeems a code.
    func redeem(_ code: String, _ changes: [String: String] = [:], fields: [String: String] = [:]) async throws -> Reply
    {
        try await token(
            "authorization_code",
            [
                "code": code, "redirect_uri": asked["redirect_uri"] ?? Self.redirectURI,
                "code_verifier": Self.verifier.exposed,
            ].merging(changes) { $1 },
            fields: fields)
    }

    /// Sends an authorization request and redeems the code.
    func signIn(_ changes: [String: String] = [:], fields: [String: String] = [:]) async throws -> Reply {
        try await redeem(try await callback(changes).all("code").first ?? "", fields: fields)
    }

    func refresh(_ token: String?, _ changes: [String: String] = [:]) async throws -> Reply {
        try await self.token("refresh_token", ["refresh_token": token ?? ""].merging(changes) { $1 })
    }

    /// Calls the API with a token under an authorization scheme.
    func callAPI(_ token: String?, scheme: String = "Bearer") async throws -> Reply {
        try await get(server.url(of: .api), fields: token.map { ["Authorization": "\(scheme) \($0)"] } ?? [:])
    }
}
