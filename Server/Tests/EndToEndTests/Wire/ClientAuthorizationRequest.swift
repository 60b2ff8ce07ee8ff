import CounterfoilProtocol
import HTTPTypes
import TestSupport

/// An authorization request of a test client, with a verifier that the test knows.
struct ClientAuthorizationRequest: Sendable {
    let site: Site
    let clientID: String
    var state: String? = "a-state"
    let redirectURI = "http://127.0.0.1:49152/callback"
    let verifier = CodeVerifier()

    init(_ site: Site, _ clientID: String) {
        self.site = site
        self.clientID = clientID
    }

    /// The request parameters.
    var parameters: FormParameters {
        var parameters = FormParameters([
            "response_type": "code", "client_id": clientID, "redirect_uri": redirectURI, "scope": "openid photos.read",
            "code_challenge": CodeChallenge(of: verifier).rawValue, "code_challenge_method": "S256",
        ])
        parameters.append("state", ifPresent: state)
        return parameters
    }

    /// The URL for the browser.
    var url: String { "\(site.issuer)/oauth2/authorize?\(parameters.encoded)" }

    /// Redeems a code at the token endpoint.
    ///
    /// - Parameters:
    ///   - node: Another server of the same issuer; nil for the server of the request.
    ///   - headers: The fields with which the client authenticates.
    func redeem(_ code: String, at node: Site? = nil, headers: [String: String] = [:]) async throws -> WebPage {
        let form = FormParameters([
            "grant_type": "authorization_code", "client_id": clientID, "code": code, "redirect_uri": redirectURI,
            "code_verifier": verifier.exposed,
        ])
        var agent = UserAgent()
        return try await agent.send(.post, "\(node?.origin ?? site.issuer)/oauth2/token", headers: headers, form: form)
    }
}

extension WebPage {
    /// The response parameters in the URL to which the page continues.
    var answer: FormParameters {
        get throws {
            guard let address = continuationURL ?? header("location"), let mark = address.firstIndex(of: "?") else {
                throw Unexpected(description: "no answer to an application: \(status) \(text)")
            }
            return try FormParameters(parsing: String(address[address.index(after: mark)...]))
        }
    }

    /// The code in the response.
    var code: String {
        get throws {
            guard let code = try answer.single("code") else {
                throw Unexpected(description: "no code: \(try answer.encoded)")
            }
            return code
        }
    }
}
